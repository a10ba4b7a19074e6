import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pod, Secret } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { configMaps, nodes, pods, secrets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { openWorld, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { installOperator } from '../demo/install-operator.ts'
import { inProcess, runCommand } from '../testing/run-command.ts'
import { createSupportBundleCommand } from './support-bundle.ts'
import { leftOut, withoutSecrets } from './without-secrets.ts'

const planted = 'hunter2-planted'

let scenario: Scenario
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cofferdam-bundle-'))
  scenario = await openWorld({ nodeCount: 2 })
  await installOperator(scenario.server)
})
afterEach(async () => {
  scenario.stop()
  await rm(folder, { recursive: true })
})

/** Refuses the test if any of it is read. */
function watched(api: KubeApi): { readonly api: KubeApi; readonly asked: Set<string> } {
  const asked = new Set<string>()
  const noting = new Proxy(api, {
    get(target, name) {
      const own: unknown = Reflect.get(target, name, target)
      if (typeof own !== 'function') return own
      return (...given: unknown[]) => {
        asked.add((given[0] as { readonly plural?: string }).plural ?? '')
        return (own as (...args: unknown[]) => unknown).apply(target, given)
      }
    },
  })
  return { api: noting, asked }
}

async function bundle(api: KubeApi = scenario.api) {
  const file = join(folder, 'bundle.tar.gz')
  const { connect } = inProcess(api)
  const command = createSupportBundleCommand({ connect, clock: scenario.clock })
  const result = await runCommand(command, 'support-bundle', '--out', file)
  return { ...result, file }
}

describe('a support bundle', () => {
  it('is an archive that tar reads, with status, doctor and the objects', async () => {
    const { code, out, file } = await bundle()
    expect(code).toBe(0)
    expect(out).toContain('Read it before you share it.')
    const names = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).split('\n')
    for (const name of ['status', 'doctor', 'versions', 'objects/nodes', 'objects/nodedisruptions.cofferdam.io']) {
      expect(names).toContain(`cofferdam-support/${name}.json`)
    }
    const nodeFile = execFileSync('tar', ['-xzOf', file, 'cofferdam-support/objects/nodes.json'], { encoding: 'utf8' })
    expect((JSON.parse(nodeFile) as KubeObject[]).map(({ metadata }) => metadata.name)).toEqual(['node-1', 'node-2'])
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  it('has no secret that was planted anywhere, and never asks for Secrets or ConfigMaps', async () => {
    const named = { namespace: 'default', name: 'planted' }
    const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: named, data: { a: btoa(planted) } }
    await scenario.api.create(secrets, secret)
    await scenario.api.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: named,
      data: { a: planted },
    })
    const annotations = {
      'kubectl.kubernetes.io/last-applied-configuration': `{"password":"${planted}"}`,
      'example.com/token': planted,
    }
    await scenario.api.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...named, annotations },
      spec: {
        nodeName: 'node-1',
        containers: [{ name: 'a', image: 'a', env: [{ name: 'PASSWORD', value: planted }], args: [planted] }],
      },
    } as Pod)
    await scenario.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { metadata: { annotations } } })
    const { api, asked } = watched(scenario.api)
    const { code, file } = await bundle(api)
    expect(code).toBe(0)
    const content = execFileSync('tar', ['-xzOf', file], { encoding: 'utf8' })
    expect(content).toContain('"name": "planted"')
    expect(content).not.toContain(planted)
    expect(content).not.toContain(btoa(planted))
    expect([...asked].filter((plural) => plural === 'secrets' || plural === 'configmaps')).toEqual([])
  })

  it('never overwrites a file', async () => {
    const file = join(folder, 'bundle.tar.gz')
    await writeFile(file, 'mine')
    const { code, err } = await bundle()
    expect(code).toBe(1)
    expect(err).toContain('name another file with --out')
    expect(await readFile(file, 'utf8')).toBe('mine')
  })
})

describe('what is left out of an object', () => {
  const object = (fields: object): KubeObject =>
    ({ apiVersion: 'v1', kind: 'CephCluster', metadata: { name: 'a' }, ...fields }) as KubeObject
  const cases: Record<string, { given: object; then: object }> = {
    'fields that speak of secrets, however deep': {
      given: { spec: { security: { kms: { tokenSecretName: 'x', connectionDetails: { VAULT: 'y' } } } } },
      then: { spec: { security: { kms: { tokenSecretName: leftOut, connectionDetails: leftOut } } } },
    },
    'environments and commands, also in lists': {
      given: { spec: { pods: [{ name: 'a', env: [{ value: 'x' }], command: ['x'] }] } },
      then: { spec: { pods: [{ name: 'a' }] } },
    },
    'nothing that a drain is judged by': {
      given: { spec: { disruptionManagement: { managePodBudgets: false } } },
      then: { spec: { disruptionManagement: { managePodBudgets: false } } },
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { given, then }) => {
    expect(withoutSecrets(object(given))).toMatchObject(then)
    expect((withoutSecrets(object(given)) as { readonly spec: unknown }).spec).toEqual((then as { spec: unknown }).spec)
  })

  it('where a webhook is called: with the path of the guard anybody could pass for the API server', () => {
    const webhooks = [
      { name: 'a', clientConfig: { caBundle: 'x', service: { name: 'guard', path: '/word/evictions' } } },
      { name: 'b', clientConfig: { url: 'https://guard.example/word' } },
    ]
    const kind = 'ValidatingWebhookConfiguration'
    expect(withoutSecrets({ ...object({ webhooks }), kind } as KubeObject)).toMatchObject({
      webhooks: [
        { name: 'a', clientConfig: { caBundle: 'x', service: { name: 'guard', path: leftOut } } },
        { name: 'b', clientConfig: { url: leftOut } },
      ],
    })
  })

  it('annotations of others, by value: their names say that they are there', () => {
    const annotations = { 'cofferdam.io/lock': '{}', 'example.com/x': 'y', 'evilcofferdam.io/x': 'y' }
    expect(withoutSecrets(object({ metadata: { name: 'a', annotations } }))).toMatchObject({
      metadata: { annotations: { 'cofferdam.io/lock': '{}', 'example.com/x': leftOut, 'evilcofferdam.io/x': leftOut } },
    })
  })
})
