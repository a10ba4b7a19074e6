import { events, nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { budget } from '@cofferdam/simulator/world/testing/story.ts'
import { type DisruptionStage, openDisruptionStage } from '../capabilities/drain-lock/testing/disruption-stage.ts'
import { heldKeys } from '../ledger/store/testing/ledger-stage.ts'
import { disruptionLedgers } from '../shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '../shared/kinds/node-disruption.ts'
import { describeRights, type RightsCase } from './testing/describe-rights.ts'

async function told({ api }: DisruptionStage): Promise<string[]> {
  const { items } = await api.list(events)
  const ours = items.filter(({ source }) => source?.component === 'cofferdam')
  return [...new Set(ours.map(({ involvedObject }) => involvedObject.kind ?? ''))].sort()
}

async function held({ api }: DisruptionStage): Promise<string[]> {
  const keys = await heldKeys(api).catch(() => [])
  return keys.map((text) => text.split(' ').slice(0, 2).join(' ')).sort()
}

/** Two requests one after the other, a pod that stays, one that goes when its budget lets it, and the return of the node. */
async function rebootStory(stage: DisruptionStage, start: () => void): Promise<unknown> {
  await stage.addStaying('db')
  await stage.addLeaving('web', { replicas: 3, maxUnavailable: 0 })
  start()
  await stage.seconds(2)
  const node = await stage.nodeOf('db-0')
  await stage.request('first', { nodeName: node })
  await stage.request('second', { nodeName: node })
  await stage.seconds(6)
  const draining = { held: await held(stage), budgets: await stage.budgets() }
  const patch = { type: 'merge', body: { spec: { maxUnavailable: 1 } } } as const
  await stage.api.patch(podDisruptionBudgets, { namespace: 'default', name: 'web' }, patch)
  await soonAfter(stage, async () => (await stage.podsOn(node)).length === 1)
  const drained = { phase: await stage.phaseOf('first'), pods: await stage.podsOn(node) }
  stage.world.kubelet.reboot(node, 60)
  await soonAfter(stage, async () => (await stage.api.get(nodes, { name: node })).spec?.taints?.length === 3)
  const away = (await stage.disruption('first')).status?.blockedBy?.map(({ reason }) => reason)
  await soonAfter(stage, async () => (await stage.phaseOf('first')) === 'Completed')
  const back = { first: await stage.phaseOf('first'), second: await stage.phaseOf('second') }
  await stage.api.patch(nodes, { name: node }, { type: 'merge', body: { spec: { unschedulable: null } } })
  await stage.seconds(1)
  const givenBack = await stage.phaseOf('second')
  await holdByHand(stage, ['node/node-3'])
  await stage.request('third', { nodeName: 'node-3' })
  await stage.seconds(6)
  const third = [await stage.phaseOf('third')]
  await holdByHand(stage, [])
  await stage.seconds(1)
  third.push(await stage.phaseOf('third'))
  await stage.api.delete(nodeDisruptions, { name: 'third' })
  await stage.seconds(4)
  const left = (await stage.api.list(nodeDisruptions)).items.map(({ metadata }) => metadata.name)
  return { draining, drained, away, back, givenBack, third, left, told: await told(stage) }
}

/** Whoever else takes keys from the ledger. */
async function holdByHand({ api }: DisruptionStage, keys: readonly string[]): Promise<void> {
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
async function soonAfter(stage: DisruptionStage, holds: () => Promise<boolean>): Promise<void> {
  for (let second = 0; second < 120 && !(await holds()); second += 1) await stage.seconds(1)
  await stage.seconds(1)
}

/** A holder that vanished while its node was away, and a ledger that was lost meanwhile. */
async function orphanStory(stage: DisruptionStage, start: () => void): Promise<unknown> {
  await stage.addStaying('db')
  stage.operate({ controllers: ['node-disruption'] })
  const node = await stage.nodeOf('db-0')
  await stage.request('gone', { nodeName: node })
  await stage.until('gone', 'Drained')
  stage.world.kubelet.powerOff(node)
  await stage.seconds(50)
  await stage.stopOperators()
  await stage.api.delete(disruptionLedgers, { name: 'cluster' })
  start()
  await stage.seconds(20)
  const rebuilt = await held(stage)
  await stage.api.delete(nodeDisruptions, { name: 'gone' })
  const body = { metadata: { finalizers: null } }
  await stage.api.patch(nodeDisruptions, { name: 'gone' }, { type: 'merge', body })
  await stage.seconds(70)
  const orphaned = await held(stage)
  stage.world.kubelet.powerOn(node)
  await stage.seconds(30)
  const left = { held: await held(stage), isCordoned: await stage.isCordoned(node), budgets: await stage.budgets() }
  const unsettled = { type: 'merge', body: { metadata: { annotations: { 'cofferdam.io/settings': null } } } } as const
  await stage.api.patch(disruptionLedgers, { name: 'cluster' }, unsettled)
  await stage.seconds(2)
  const ledger = await stage.api.get(disruptionLedgers, { name: 'cluster' })
  const settings = Object.keys(ledger.metadata.annotations ?? {})
  const late = await stage.api.list(events)
  const reasons = late.items.filter(({ involvedObject }) => involvedObject.kind === 'DisruptionLedger')
  return { rebuilt, orphaned, left, settings, told: reasons.map(({ reason }) => reason).sort() }
}

/** A lock that an owner wrote by hand, looked at before and after it was taken away. */
async function appLockStory(stage: DisruptionStage, start: () => void): Promise<unknown> {
  const stampOf = async (name: string) =>
    (await stage.api.get(podDisruptionBudgets, { namespace: 'default', name })).metadata.annotations?.[
      'cofferdam.io/locked-since'
    ]
  const lock = async (name: string, text: string | null) => {
    const patch = { type: 'merge', body: { metadata: { annotations: { 'cofferdam.io/lock': text } } } } as const
    await stage.api.patch(podDisruptionBudgets, { namespace: 'default', name }, patch)
  }
  const text = JSON.stringify({ holder: 'ann', reason: 'backup', until: '2026-01-01T02:00:00Z' })
  for (const name of ['early', 'late'])
    await stage.api.create(podDisruptionBudgets, budget(name, { maxUnavailable: 1 }))
  await lock('early', text)
  start()
  await stage.seconds(2)
  const early = await stampOf('early')
  await lock('late', text)
  await stage.seconds(2)
  const late = await stampOf('late')
  return { early, late, told: await told(stage) }
}

const cases: Record<string, RightsCase<DisruptionStage>> = {
  'app-locks': {
    controller: 'app-locks',
    open: openDisruptionStage,
    story: appLockStory,
    whole: { early: '2026-01-01T00:00:03Z', late: '2026-01-01T00:00:05Z', told: ['PodDisruptionBudget'] },
  },
  'node-disruption': {
    controller: 'node-disruption',
    open: openDisruptionStage,
    story: rebootStory,
    whole: {
      draining: {
        held: ['node/node-1 Acting', 'pdb/default/db Acting'],
        budgets: ['db (1): 0 of 2 without db-0 held by nodedisruption/first', 'web (0): 0 of 3'],
      },
      drained: { phase: 'Drained', pods: ['db-0'] },
      away: ['NodeAway'],
      back: { first: 'Completed', second: 'Drained' },
      givenBack: 'Completed',
      third: ['Waiting', 'Draining'],
      left: ['first', 'second'],
      told: ['Node', 'NodeDisruption'],
    },
  },
  'disruption-ledger': {
    controller: 'disruption-ledger',
    open: openDisruptionStage,
    story: orphanStory,
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
