import { validatingWebhookConfigurations } from '@cofferdam/kubernetes/api/admission-registration.ts'
import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { customResourceDefinitions, leases } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { changedApi, openWorld, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { storageView } from '../../explain/testing/sample-objects.ts'
import { known, unknown } from '../../shared/observed.ts'
import { installOperator } from '../demo/install-operator.ts'
import { inProcess, runCommand } from '../testing/run-command.ts'
import { createDoctorCommand, type Diagnosis } from './doctor.ts'
import type { DoctorSnapshot, GuardFacts } from './doctor-snapshot.ts'
import { type Check, explainChecks } from './explain-checks.ts'

let scenario: Scenario
beforeEach(async () => {
  scenario = await openWorld({ nodeCount: 3 })
})
afterEach(() => scenario.stop())

async function doctor(argv: readonly string[] = [], api: KubeApi = scenario.api) {
  const { connect, links } = inProcess(api)
  const result = await runCommand(createDoctorCommand({ connect, clock: scenario.clock }), 'doctor', ...argv)
  expect(links.opened).toBe(links.closed)
  return result
}

async function states(api?: KubeApi): Promise<Record<string, Check['state']>> {
  const { checks } = JSON.parse((await doctor(['-o', 'json'], api)).out) as Diagnosis
  return Object.fromEntries(checks.map(({ what, state }) => [what, state]))
}

describe('doctor', () => {
  it('before an installation warns of what is missing, and has no problem: exit code 0', async () => {
    const { code, out } = await doctor()
    expect(code).toBe(0)
    expect(out).toContain('ok       server: in-process answers, Kubernetes v1.36.4, 3 nodes\n')
    expect(out).toContain('warning  operator: not installed\n         do: apply deploy/: kubectl apply -k deploy\n')
    expect(out).toMatch(/\n0 problems, \d warnings, 0 unknown, \d ok\n$/)
  })

  it('after an installation without a leader has a problem: exit code 3', async () => {
    await installOperator(scenario.server)
    const { code, out } = await doctor()
    expect(code).toBe(3)
    expect(out).toContain('problem  operator: no operator is running')
    expect(out).toContain("ok       operator's rights: its account has every right of deploy/\n")
    expect(out).toContain('ok       CRDs: all 4 are of this version\n')
  })

  it('with a leader is in order, and names what guards nothing yet', async () => {
    await installOperator(scenario.server)
    await scenario.api.create(leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'cofferdam-system', name: 'cofferdam-operator' },
      spec: { holderIdentity: 'pod-1', leaseDurationSeconds: 3600, renewTime: '2026-01-01T00:00:00.000000Z' },
    })
    expect(await states()).toMatchObject({
      server: 'ok',
      'your rights': 'ok',
      operator: 'ok',
      "operator's rights": 'ok',
      guard: 'warning',
      managed: 'ok',
    })
  })

  it('names a definition that is missing beside others', async () => {
    await installOperator(scenario.server)
    await scenario.api.delete(customResourceDefinitions, { name: 'disruptionpolicies.cofferdam.io' })
    expect((await doctor()).out).toContain('problem  CRDs: missing: disruptionpolicies.cofferdam.io\n')
  })

  it('names a guard that was deleted', async () => {
    await installOperator(scenario.server)
    await scenario.api.delete(validatingWebhookConfigurations, { name: 'cofferdam-eviction-guard' })
    expect((await doctor()).out).toContain('warning  guard: the eviction guard is not registered')
  })

  it('of what may not be asked is unknown, and no problem', async () => {
    const forbidden = (type: { readonly plural: string }) =>
      Promise.reject(new ApiError('Forbidden', `${type.plural} is forbidden`))
    const api = changedApi(scenario.api, { get: forbidden, list: forbidden, create: forbidden })
    expect(await states(api)).toMatchObject({ 'your rights': 'unknown', CRDs: 'unknown', guard: 'unknown' })
  })
})

describe('a check says what is wrong and what to do', () => {
  const guard: GuardFacts = { webhooks: 1, hasCertificate: true, readyPods: known(2), trial: known({ isHeard: true }) }
  const sound: DoctorSnapshot = {
    client: '1.0.0',
    versions: {
      server: 'https://cluster',
      kubernetes: 'v1.33.0',
      operator: { isRunning: true, leader: 'pod-1', version: '1.0.0' },
      definitions: [{ name: 'nodedisruptions.cofferdam.io', state: 'same' }],
      observedAt: '2026-01-01T00:00:00Z',
      notSeen: [],
    },
    nodes: known(3),
    userLacks: known([]),
    operatorLacks: known([]),
    guard: known(guard),
    named: [],
    ceph: [],
    longhorn: undefined,
  }
  const operator = sound.versions.operator
  const rook = { view: storageView({}), rook: 'v1.18.8', hasToolbox: false }
  const cases: Record<string, { given: Partial<DoctorSnapshot>; what: string; then: Partial<Check> }> = {
    'an old Kubernetes': {
      given: { versions: { ...sound.versions, kubernetes: 'v1.24.2' } },
      what: 'server',
      then: { state: 'warning', wayOut: 'upgrade Kubernetes' },
    },
    'a user without rights gets partial answers': {
      given: { userLacks: known(['list nodes']) },
      what: 'your rights',
      then: { state: 'warning', says: 'you may not: list nodes' },
    },
    'an operator without a right cannot do its work': {
      given: { operatorLacks: known(['patch nodes']) },
      what: "operator's rights",
      then: { state: 'problem', says: 'its account may not: patch nodes' },
    },
    'rights that may not be asked are not missing': {
      given: { operatorLacks: unknown('forbidden') },
      what: "operator's rights",
      then: { state: 'unknown' },
    },
    'an operator of another version': {
      given: { versions: { ...sound.versions, operator: { ...operator, version: '0.9.0' } } },
      what: 'operator',
      then: { state: 'warning', says: 'pod-1 leads with version 0.9.0; this program is 1.0.0' },
    },
    'a definition of another version drops fields in silence': {
      given: {
        versions: { ...sound.versions, definitions: [{ name: 'nodedisruptions.cofferdam.io', state: 'differs' }] },
      },
      what: 'CRDs',
      then: { state: 'problem' },
    },
    'a webhook without a certificate is refused by the API server': {
      given: { guard: known({ ...guard, hasCertificate: false }) },
      what: 'guard',
      then: { state: 'problem', wayOut: 'restart the operator, which enters it again' },
    },
    'a webhook without a pod that answers': {
      given: { guard: known({ ...guard, readyPods: known(0) }) },
      what: 'guard',
      then: { state: 'problem', says: 'no pod of the operator is ready to answer it' },
    },
    'a guard that the API server does not reach was called ok, and every eviction of a locked namespace failed': {
      given: { guard: known({ ...guard, trial: known({ isHeard: false, says: 'network is unreachable' }) }) },
      what: 'guard',
      then: {
        state: 'problem',
        says: 'it did not hear of an eviction that was only tried: network is unreachable',
      },
    },
    'a user who may not evict cannot try the guard': {
      given: { guard: known({ ...guard, trial: unknown('you may not evict pods') }) },
      what: 'guard',
      then: {
        state: 'ok',
        says: 'evictions are asked of it; whether it hears them was not tried: you may not evict pods',
      },
    },
    'a named cluster without a toolbox: the operator cannot ask Ceph': {
      given: { ceph: [rook], named: ['rook-ceph/rook-ceph'] },
      what: 'ceph rook-ceph/rook-ceph',
      then: { state: 'warning' },
    },
    'a named cluster that Ceph does not answer for was called ok, and no OSD could be drained': {
      given: {
        ceph: [{ ...rook, view: storageView({ reason: 'SafetyUnknown' }), hasToolbox: true }],
        named: ['rook-ceph/rook-ceph'],
      },
      what: 'ceph rook-ceph/rook-ceph',
      then: { state: 'warning', wayOut: 'cofferdam explain cephcluster/rook-ceph/rook-ceph' },
    },
    'a cluster that is only observed needs no toolbox': {
      given: { ceph: [rook] },
      what: 'ceph rook-ceph/rook-ceph',
      then: { state: 'ok' },
    },
    'what is only observed is named, with how to have it managed': {
      given: { ceph: [rook] },
      what: 'managed',
      then: { state: 'ok', says: 'requests for nodes; only observed: CephCluster rook-ceph/rook-ceph' },
    },
    'a Longhorn that is guided is managed': {
      given: { longhorn: { mode: 'guide', policy: 'block-for-eviction', version: 'v1.8.0', problems: 0 } },
      what: 'managed',
      then: { state: 'ok', says: 'requests for nodes, drains of Longhorn' },
    },
    'a Longhorn with objects that cannot be read': {
      given: { longhorn: { mode: 'observe', policy: undefined, version: 'v1.8.0', problems: 2 } },
      what: 'longhorn',
      then: { state: 'warning', says: 'Longhorn v1.8.0, mode observe, policy unknown; 2 problems' },
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { given, what, then }) => {
    expect(explainChecks({ ...sound, ...given }).find((check) => check.what === what)).toMatchObject(then)
  })

  it('nothing is wrong with a sound installation', () => {
    expect(explainChecks(sound).filter(({ state }) => state !== 'ok')).toEqual([])
  })
})
