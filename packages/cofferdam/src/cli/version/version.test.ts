import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { customResourceDefinitions } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { changedApi, openWorld, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildCustomResourceDefinitions } from '../../deploy/custom-resource-definitions.ts'
import { defaultAppLockPolicy } from '../../ledger/rules/app-lock.ts'
import { defaultDrainLockSettings } from '../../ledger/rules/drain-lock-settings.ts'
import { settingsAnnotation, settingsText } from '../../ledger/rules/published-settings.ts'
import { productVersion } from '../../ledger/store/product-version.ts'
import { disruptionLedgers } from '../../shared/kinds/disruption-ledger.ts'
import { inProcess, runCommand } from '../testing/run-command.ts'
import { writeOperatorLease } from '../testing/write-operator-lease.ts'
import { createVersionCommand } from './version.ts'

let scenario: Scenario
beforeEach(async () => {
  scenario = await openWorld({ nodeCount: 1 })
})
afterEach(() => scenario.stop())

async function version(argv: readonly string[] = [], api: KubeApi = scenario.api) {
  const { connect, links } = inProcess(api)
  const result = await runCommand(createVersionCommand({ connect, clock: scenario.clock }), 'version', ...argv)
  expect(links.opened).toBe(links.closed)
  return { ...result, opened: links.opened }
}

async function install(change: (definition: KubeObject) => KubeObject = (same) => same) {
  for (const definition of buildCustomResourceDefinitions()) {
    await scenario.api.create(customResourceDefinitions, change(definition))
  }
}

async function publish(published: string) {
  const settings = { drainLock: defaultDrainLockSettings, appLocks: defaultAppLockPolicy, version: published }
  await scenario.api.create(disruptionLedgers, {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'DisruptionLedger',
    metadata: { name: 'cluster', annotations: { [settingsAnnotation]: settingsText(settings) } },
  })
}

describe('version', () => {
  it('of the client asks no cluster', async () => {
    expect(await version(['--client'])).toEqual({ code: 0, out: `Client    ${productVersion}\n`, err: '', opened: 0 })
  })

  it('of a whole installation is four lines', async () => {
    await install()
    await publish(productVersion)
    await writeOperatorLease(scenario)
    expect((await version()).out.split('\n')).toEqual([
      `Client    ${productVersion}`,
      'Cluster   v1.36.4 at in-process',
      `Operator  ${productVersion}, pod-1 leads`,
      'CRDs      all 4 of this version',
      '',
    ])
  })

  it('of a cluster without Cofferdam says what to apply', async () => {
    const { code, out } = await version()
    expect(code).toBe(0)
    expect(out).toContain('Operator  not running\n')
    expect(out).toContain('CRDs      not installed; apply deploy/crds\n')
  })

  it('names an operator of another version: its answers may differ from those of this client', async () => {
    await install()
    await publish('0.0.1')
    await writeOperatorLease(scenario)
    expect((await version()).out).toContain(
      `Operator  0.0.1, pod-1 leads; not the version of this client, ${productVersion}\n`,
    )
  })

  it('names definitions of another version: fields would be dropped in silence', async () => {
    await install((definition) => {
      const { spec } = definition as KubeObject & { readonly spec: { readonly versions: readonly JsonObject[] } }
      const versions = spec.versions.map((each) => ({
        ...each,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      }))
      return definition.metadata.name.startsWith('nodedisruptions.')
        ? ({ ...definition, spec: { ...spec, versions } } as KubeObject)
        : definition
    })
    expect((await version()).out).toContain(
      "CRDs      of another version: nodedisruptions.cofferdam.io; apply deploy/crds of the operator's version\n",
    )
  })

  it('of what may not be read is unknown, and not missing', async () => {
    const api = changedApi(scenario.api, {
      get: (type) => Promise.reject(new ApiError('Forbidden', `${type.plural} is forbidden`)),
    })
    const { code, out } = await version([], api)
    expect(code).toBe(0)
    expect(out).toContain('Operator  unknown; its lease may not be read\n')
    expect(out).toContain('CRDs      unknown: 4 may not be read\n')
  })

  it('as data has every definition by its name', async () => {
    await install()
    expect(JSON.parse((await version(['-o', 'json'])).out)).toMatchObject({
      client: productVersion,
      cluster: {
        server: 'in-process',
        kubernetes: 'v1.36.4',
        operator: { isRunning: false },
        definitions: expect.arrayContaining([{ name: 'nodedisruptions.cofferdam.io', state: 'same' }]),
        notSeen: [],
      },
    })
  })
})
