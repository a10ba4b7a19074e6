import { events, nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { budget } from '@cofferdam/simulator/world/testing/scenario.ts'
import { type DisruptionFixture, openDisruptionFixture } from '../capabilities/drain-lock/testing/disruption-fixture.ts'
import { heldKeys } from '../ledger/store/testing/ledger-fixture.ts'
import { disruptionLedgers } from '../shared/kinds/disruption-ledger.ts'
import { disruptionPolicies } from '../shared/kinds/disruption-policy.ts'
import { nodeDisruptions } from '../shared/kinds/node-disruption.ts'
import { describeRights, type RightsCase } from './testing/describe-rights.ts'

async function told({ api }: DisruptionFixture): Promise<string[]> {
  const { items } = await api.list(events)
  const ours = items.filter(({ source }) => source?.component === 'cofferdam')
  return [...new Set(ours.map(({ involvedObject }) => involvedObject.kind ?? ''))].sort()
}

async function held({ api }: DisruptionFixture): Promise<string[]> {
  const keys = await heldKeys(api).catch(() => [])
  return keys.map((text) => text.split(' ').slice(0, 2).join(' ')).sort()
}

/** Two requests one after the other, a pod that stays, one that goes when its budget lets it, and the return of the node. */
async function rebootScenario(fixture: DisruptionFixture, start: () => void): Promise<unknown> {
  await fixture.addStaying('db')
  await fixture.addLeaving('web', { replicas: 3, maxUnavailable: 0 })
  start()
  await fixture.seconds(2)
  const node = await fixture.nodeOf('db-0')
  await fixture.request('first', { nodeName: node })
  await fixture.request('second', { nodeName: node })
  await fixture.seconds(6)
  const draining = { held: await held(fixture), budgets: await fixture.budgets() }
  const patch = { type: 'merge', body: { spec: { maxUnavailable: 1 } } } as const
  await fixture.api.patch(podDisruptionBudgets, { namespace: 'default', name: 'web' }, patch)
  await soonAfter(fixture, async () => (await fixture.podsOn(node)).length === 1)
  const drained = { phase: await fixture.phaseOf('first'), pods: await fixture.podsOn(node) }
  fixture.world.kubelet.reboot(node, 60)
  await soonAfter(fixture, async () => (await fixture.api.get(nodes, { name: node })).spec?.taints?.length === 3)
  const away = (await fixture.disruption('first')).status?.blockedBy?.map(({ reason }) => reason)
  await soonAfter(fixture, async () => (await fixture.phaseOf('first')) === 'Completed')
  const back = { first: await fixture.phaseOf('first'), second: await fixture.phaseOf('second') }
  await fixture.api.patch(nodes, { name: node }, { type: 'merge', body: { spec: { unschedulable: null } } })
  await fixture.seconds(1)
  const givenBack = [await fixture.phaseOf('second')]
  await soonAfter(fixture, async () => (await fixture.phaseOf('second')) === 'Completed')
  givenBack.push(await fixture.phaseOf('second'))
  await holdByHand(fixture, ['node/node-3'])
  await fixture.request('third', { nodeName: 'node-3' })
  await fixture.seconds(6)
  const third = [await fixture.phaseOf('third')]
  await holdByHand(fixture, [])
  await fixture.seconds(1)
  third.push(await fixture.phaseOf('third'))
  await fixture.api.delete(nodeDisruptions, { name: 'third' })
  await fixture.seconds(4)
  const stop = { limits: [{ name: 'all', maxNodes: 0 }] }
  await fixture.api.create(disruptionPolicies, { ...policy, spec: stop })
  await fixture.request('fourth', { nodeName: 'node-3' })
  await fixture.seconds(6)
  const stopped = (await fixture.disruption('fourth')).status?.blockedBy?.map(({ reason }) => reason)
  await fixture.api.delete(nodeDisruptions, { name: 'fourth' })
  await fixture.seconds(4)
  const left = (await fixture.api.list(nodeDisruptions)).items.map(({ metadata }) => metadata.name)
  return { draining, drained, away, back, givenBack, third, stopped, left, told: await told(fixture) }
}

const policy = { apiVersion: 'cofferdam.io/v1alpha1', kind: 'DisruptionPolicy', metadata: { name: 'cluster' } } as const

/** Requests that have ended are deleted after the time that a policy gives them, also one that comes later. */
async function finishedScenario(fixture: DisruptionFixture, start: () => void): Promise<unknown> {
  const names = async () => (await fixture.api.list(nodeDisruptions)).items.map(({ metadata }) => metadata.name)
  const end = async (name: string) => {
    const made = await fixture.request(name, { nodeName: 'no-such-node' })
    const status = { phase: 'Rejected', phaseSince: timestamp(fixture.clock) } as const
    await fixture.api.update(nodeDisruptions, { ...made, status }, { subresource: 'status' })
  }
  await fixture.api.create(disruptionPolicies, { ...policy, spec: { ttlSecondsAfterFinished: 60 } })
  await end('early')
  start()
  await fixture.seconds(70)
  const first = await names()
  const body = { spec: { ttlSecondsAfterFinished: 5 } }
  await fixture.api.patch(disruptionPolicies, { name: 'cluster' }, { type: 'merge', body })
  await end('late')
  await fixture.seconds(10)
  return { first, then: await names() }
}

/** Whoever else takes keys from the ledger. */
async function holdByHand({ api }: DisruptionFixture, keys: readonly string[]): Promise<void> {
  const ledger = await api.get(disruptionLedgers, { name: 'cluster' })
  const entries = keys.map((key) => ({
    key,
    uid: '',
    scope: '',
    holder: 'another tool',
    requestId: 'another',
    epoch: 1,
    state: 'Granted' as const,
    since: '2026-01-01T00:00:00Z',
    renewSequence: 0,
  }))
  const { nextEpoch = 1, nextTicket = 1 } = ledger.status ?? {}
  const status = { ...ledger.status, nextEpoch: Math.max(2, nextEpoch), nextTicket, entries }
  await api.update(disruptionLedgers, { ...ledger, status }, { subresource: 'status' })
}

/** Waits until it holds, and one second more: whoever watches has seen it by then, whoever looks now and then has not. */
async function soonAfter(fixture: DisruptionFixture, holds: () => Promise<boolean>): Promise<void> {
  for (let second = 0; second < 120 && !(await holds()); second += 1) await fixture.seconds(1)
  await fixture.seconds(1)
}

/** A holder that vanished while its node was away, and a ledger that was lost meanwhile. */
async function orphanScenario(fixture: DisruptionFixture, start: () => void): Promise<unknown> {
  await fixture.addStaying('db')
  fixture.operate({ controllers: ['node-disruption'] })
  const node = await fixture.nodeOf('db-0')
  await fixture.request('gone', { nodeName: node })
  await fixture.until('gone', 'Drained')
  fixture.world.kubelet.powerOff(node)
  await fixture.seconds(50)
  await fixture.stopOperators()
  await fixture.api.delete(disruptionLedgers, { name: 'cluster' })
  start()
  await fixture.seconds(20)
  const rebuilt = await held(fixture)
  await fixture.api.delete(nodeDisruptions, { name: 'gone' })
  const body = { metadata: { finalizers: null } }
  await fixture.api.patch(nodeDisruptions, { name: 'gone' }, { type: 'merge', body })
  await fixture.seconds(70)
  const orphaned = await held(fixture)
  fixture.world.kubelet.powerOn(node)
  await fixture.seconds(30)
  const left = {
    held: await held(fixture),
    isCordoned: await fixture.isCordoned(node),
    budgets: await fixture.budgets(),
  }
  const unsettled = { type: 'merge', body: { metadata: { annotations: { 'cofferdam.io/settings': null } } } } as const
  await fixture.api.patch(disruptionLedgers, { name: 'cluster' }, unsettled)
  await fixture.seconds(2)
  const ledger = await fixture.api.get(disruptionLedgers, { name: 'cluster' })
  const settings = Object.keys(ledger.metadata.annotations ?? {})
  const late = await fixture.api.list(events)
  const reasons = late.items.filter(({ involvedObject }) => involvedObject.kind === 'DisruptionLedger')
  return { rebuilt, orphaned, left, settings, told: reasons.map(({ reason }) => reason).sort() }
}

/** Locks that owners wrote by hand, one beside what an earlier version wrote, the other prolonged. */
async function appLockScenario(fixture: DisruptionFixture, start: () => void): Promise<unknown> {
  const recordOf = async (name: string) => {
    const { status } = await fixture.api.get(disruptionLedgers, { name: 'cluster' })
    const { since, until } = status?.appLocks?.find(({ budget: key }) => key === `default/${name}`) ?? {}
    return { since, until }
  }
  const lock = async (name: string, text: string, more: Record<string, string> = {}) => {
    const annotations = { 'cofferdam.io/lock': text, ...more }
    const patch = { type: 'merge', body: { metadata: { annotations } } } as const
    await fixture.api.patch(podDisruptionBudgets, { namespace: 'default', name }, patch)
  }
  const textUntil = (until: string) => JSON.stringify({ holder: 'ann', reason: 'backup', until })
  const text = textUntil('2026-01-01T02:00:00Z')
  for (const name of ['early', 'late'])
    await fixture.api.create(podDisruptionBudgets, budget(name, { maxUnavailable: 1 }))
  await lock('early', text, { 'cofferdam.io/locked-since': '2025-12-31T20:00:00Z' })
  start()
  await fixture.seconds(2)
  const early = await recordOf('early')
  const { annotations = {} } = (await fixture.api.get(podDisruptionBudgets, { namespace: 'default', name: 'early' }))
    .metadata
  await lock('late', text)
  await fixture.seconds(5)
  await lock('late', textUntil('2026-01-01T03:00:00Z'))
  await fixture.seconds(5)
  const late = await recordOf('late')
  return { early, left: Object.keys(annotations), late, told: await told(fixture) }
}

/** Of an alpha of Kubernetes: scenarios/tool-eviction-request.test.ts. */
const evictionKinds = ['evictionrequests', 'evictions']

const cases: Record<string, RightsCase<DisruptionFixture>> = {
  'app-locks': {
    controller: 'app-locks',
    open: openDisruptionFixture,
    scenario: appLockScenario,
    whole: {
      early: { since: '2025-12-31T20:00:00Z', until: '2026-01-01T02:00:00Z' },
      left: ['cofferdam.io/lock'],
      late: { since: '2026-01-01T00:00:05Z', until: '2026-01-01T03:00:00Z' },
      told: ['PodDisruptionBudget'],
    },
  },
  'node-disruption': {
    controller: 'node-disruption',
    shownElsewhere: evictionKinds,
    open: openDisruptionFixture,
    scenario: rebootScenario,
    whole: {
      draining: {
        held: ['node/node-1 Acting', 'pdb/default/db Acting'],
        budgets: ['db (1): 0 of 2 without db-0 held by nodedisruption/first', 'web (0): 0 of 3'],
      },
      drained: { phase: 'Drained', pods: ['db-0'] },
      away: ['NodeAway'],
      back: { first: 'Completed', second: 'Drained' },
      givenBack: ['Recovering', 'Completed'],
      third: ['Waiting', 'Draining'],
      stopped: ['MaintenanceLimit'],
      left: ['first', 'second'],
      told: ['Node', 'NodeDisruption'],
    },
  },
  'finished-requests': {
    controller: 'finished-requests',
    open: openDisruptionFixture,
    scenario: finishedScenario,
    whole: { first: [], then: [] },
  },
  'disruption-ledger': {
    controller: 'disruption-ledger',
    shownElsewhere: evictionKinds,
    open: openDisruptionFixture,
    scenario: orphanScenario,
    whole: {
      rebuilt: ['node/node-1 Orphaned', 'pdb/default/db Orphaned'],
      orphaned: ['node/node-1 Orphaned', 'pdb/default/db Orphaned'],
      left: { held: [], isCordoned: false, budgets: ['db (1): 1 of 3'] },
      settings: ['cofferdam.io/settings'],
      told: ['LedgerRebuilt', 'OrphanBuried', 'OrphanHeld'],
    },
  },
}

describeRights(cases)
