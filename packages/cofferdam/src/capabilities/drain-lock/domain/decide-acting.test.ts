import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { describe, expect, it } from 'vitest'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import { decideDisruption } from './decide.ts'
import { actingTable } from './testing/acting-table.ts'
import {
  acting,
  blank,
  ceph,
  drained,
  draining,
  entry,
  job0,
  ledgerOf,
  locked,
  minutes,
  now,
  nowMs,
  other,
  planned,
  type Scenario,
  tell,
  web,
  web0,
} from './testing/fixture.ts'

const cordoned = { isCordoned: true }
const evictJob = 'evict job-0 under 1'
const mayGo = 'node/node-a: NodeMayGo, alice'
/** The pod of a Job that waits for the drain of its own node. */
const asker = { ...job0, name: 'upgrade', uid: 'upgrade-1', wantsToStay: true }
const withStorage: Ledger = ledgerOf(...acting.entries, entry(ceph.key, { state: 'Acting' }))
const moves = {
  budgets: ['pdb/shop/store'],
  object: 'replica/db-1',
  reason: 'ReplicaMoving',
  wayOut: 'It is being copied.',
} as const
const mons = { ...web, name: 'mons', uid: 'mon-1', disruptionsAllowed: 0, followers: 'mons', isQuorum: true } as const

actingTable('once the intent is written', {
  'who cordoned is written down before the node is cordoned, and pods are evicted after': {
    given: { record: planned },
    then: { reason: 'PodsLeaving', phase: 'Draining', steps: ['record Draining', 'cordon', evictJob] },
  },
  'a crash before the record said so changes nothing: the ledger counts': {
    given: { record: { ...planned, bootIDBefore: 'boot-1' } },
    then: { reason: 'PodsLeaving', phase: 'Draining', steps: ['record Draining', 'cordon', evictJob] },
  },
  'what leaves is asked to leave again, and what stays is not': {
    given: { record: draining, node: cordoned },
    then: { reason: 'PodsLeaving', phase: 'Draining', steps: [evictJob] },
  },
  'the cordon of a request that an override took the node from is taken over: nobody would lift it, and the OSD of the node had no place (seed 700286)':
    {
      given: { record: planned, node: { isCordoned: true, cordonedBy: 'R2' } },
      then: { reason: 'PodsLeaving', phase: 'Draining', steps: ['record Draining', 'cordon', evictJob] },
    },
  'it is taken over before it is said that the node may go, where nothing has to leave any more': {
    given: { record: draining, node: { isCordoned: true, cordonedBy: 'R2' }, pods: [web0] },
    then: { reason: 'PodsLeaving', phase: 'Draining', steps: ['cordon'] },
  },
  'a cordon of an administrator, or for Longhorn, is left as it is': {
    given: { record: draining, node: { isCordoned: true, cordonedBy: 'longhorn-drain' } },
    then: { reason: 'PodsLeaving', phase: 'Draining', steps: [evictJob] },
  },
  'pods of DaemonSets are left alone, finished pods are evicted': {
    given: {
      record: draining,
      node: cordoned,
      pods: [web0, { ...job0, name: 'daemon', uid: 'daemon-1', kind: 'stays-anyway' }, { ...job0, kind: 'finished' }],
    },
    then: { reason: 'PodsLeaving', phase: 'Draining', steps: [evictJob] },
  },
  'a pod that cannot finish leaving a node that is away is not the only one waited for: the way out is the node itself':
    {
      given: {
        record: drained,
        node: { isCordoned: true, isReady: false },
        pods: [{ ...web0, isReady: false, isLeaving: true }],
      },
      then: {
        reason: 'PodsLeaving',
        phase: 'Draining',
        steps: ['record Draining', 'unlock shop/web'],
        warnings: ['node/node-a its kubelet does not answer, so no pod can finish leaving'],
        blockedBy: ['node/node-a: NodeAway, alice', 'pod/shop/web-0: PodIsLeaving, kubelet of node-a'],
      },
    },
  'a pod that is on its way is waited for': {
    given: { record: draining, node: cordoned, pods: [web0, { ...job0, isLeaving: true }] },
    then: {
      reason: 'PodsLeaving',
      phase: 'Draining',
      blockedBy: ['pod/shop/job-0: PodIsLeaving, kubelet of node-a'],
    },
  },
  'a pod that its budget holds back is asked to leave again, and the budget is named': {
    given: {
      record: draining,
      node: cordoned,
      pods: [web0, { ...job0, budgetUids: ['db-1'] }],
      budgets: [locked(), { ...web, name: 'db', uid: 'db-1', disruptionsAllowed: 0, currentHealthy: 2 }],
    },
    then: {
      reason: 'PodsLeaving',
      phase: 'Draining',
      steps: [evictJob],
      blockedBy: ['pdb/shop/db: BudgetExhausted, its own pods'],
    },
  },
  'a mon beside OSDs waits for them, so that nobody adds mons to end the drain': {
    given: {
      record: draining,
      node: cordoned,
      pods: [web0, { ...job0, budgetUids: ['mon-1'] }],
      budgets: [locked(), { ...mons, currentHealthy: 3, expectedPods: 3 }],
    },
    then: {
      reason: 'PodsLeaving',
      phase: 'Draining',
      steps: [evictJob],
      blockedBy: ['pdb/shop/mons: FollowsOsds, the OSDs on the same nodes'],
    },
  },
  'a mon waits for its quorum while another one is down, whatever the OSDs do': {
    given: {
      record: draining,
      node: cordoned,
      pods: [web0, { ...job0, budgetUids: ['mon-1'] }],
      budgets: [locked(), { ...mons, currentHealthy: 2, expectedPods: 3 }],
    },
    then: {
      reason: 'PodsLeaving',
      phase: 'Draining',
      steps: [evictJob],
      blockedBy: ['pdb/shop/mons: QuorumAtRisk, the monitors of Ceph'],
    },
  },
  'where storage keeps the budget of its own pod, its reason is told in place of a number of pods': {
    given: {
      record: draining,
      node: cordoned,
      pods: [web0, { ...job0, name: 'store-0', uid: 'store-0-1', budgetUids: ['store-1'] }],
      budgets: [locked(), { ...web, name: 'store', uid: 'store-1', disruptionsAllowed: 0, currentHealthy: 1 }],
      ledger: withStorage,
      storage: [{ ...ceph, holds: [moves, { ...moves, object: 'replica/other', budgets: ['pdb/shop/other'] }] }],
    },
    then: {
      reason: 'PodsLeaving',
      phase: 'Draining',
      steps: ['evict store-0 under 1'],
      blockedBy: ['replica/db-1: ReplicaMoving, pdb/shop/store'],
    },
  },
  'storage keeps a pod that no budget holds: it is not evicted, though the API server would let it go (short seed 706246)':
    {
      given: {
        record: draining,
        node: cordoned,
        pods: [web0, { ...job0, name: 'store-0', uid: 'store-0-1', budgetUids: [] }],
        budgets: [locked()],
        ledger: withStorage,
        storage: [{ ...ceph, holds: [{ ...moves, budgets: [], pods: ['shop/store-0'], reason: 'LastReplica' }] }],
      },
      then: {
        reason: 'LastReplica',
        phase: 'Draining',
        blockedBy: ['replica/db-1: LastReplica, storage/rook-ceph/main'],
      },
    },
  'and the others of the node leave meanwhile': {
    given: {
      record: draining,
      node: cordoned,
      pods: [web0, job0, { ...job0, name: 'store-0', uid: 'store-0-1', budgetUids: [] }],
      budgets: [locked()],
      ledger: withStorage,
      storage: [{ ...ceph, holds: [{ ...moves, budgets: [], pods: ['shop/store-0'], reason: 'LastReplica' }] }],
    },
    then: {
      reason: 'PodsLeaving',
      phase: 'Draining',
      steps: [evictJob],
      blockedBy: ['replica/db-1: LastReplica, storage/rook-ceph/main'],
    },
  },
  'a pod that two budgets cover is named with what to change': {
    given: {
      record: draining,
      node: cordoned,
      pods: [web0, { ...job0, budgetUids: ['db-1', 'web-1'] }],
      budgets: [locked(), { ...web, name: 'db', uid: 'db-1' }],
    },
    then: {
      reason: 'PodsLeaving',
      phase: 'Draining',
      steps: [evictJob],
      blockedBy: ['pod/shop/job-0: BudgetOverlap, web, db'],
    },
  },
  "an owner's lock that came after the intent is named": {
    given: {
      record: draining,
      node: cordoned,
      pods: [web0, { ...job0, budgetUids: ['db-1'] }],
      budgets: [
        locked(),
        {
          ...web,
          name: 'db',
          uid: 'db-1',
          appLock: { holder: 'bob', reason: 'vacuum', sinceMs: nowMs, writtenMs: nowMs, untilMs: nowMs + 1 },
        },
      ],
    },
    then: {
      reason: 'PodsLeaving',
      phase: 'Draining',
      steps: [evictJob],
      blockedBy: ['pdb/shop/db: AppLocked, bob'],
    },
  },
  'a pod that came later and wants to stay is evicted, because keys never grow': {
    given: {
      record: draining,
      node: cordoned,
      pods: [web0, { ...web0, name: 'web-9', uid: 'web-9-1' }],
      budgets: [locked({ ...web, expectedPods: 4 })],
    },
    then: {
      reason: 'PodsLeaving',
      phase: 'Draining',
      steps: ['evict web-9 under 1'],
      blockedBy: ['pdb/shop/web: BudgetExhausted, nodedisruption/reboot-a'],
      warnings: ['pod/shop/web-9 asks to stay but is evicted: it came after the locks were taken'],
    },
  },
  'a pod that no budget covers stays, ready or not, whenever it came: it can be the one that asked for the drain': {
    given: { record: draining, node: cordoned, pods: [web0, { ...asker, isReady: false }] },
    then: {
      reason: 'NodeMayGo',
      phase: 'Drained',
      steps: ['record Drained'],
      blockedBy: [mayGo],
    },
  },
  'such a pod has ended: it is left there, or the Job that gives the node back would do so while it is drained again': {
    given: { record: drained, node: cordoned, pods: [web0, { ...asker, kind: 'finished', isReady: false }] },
    then: { reason: 'NodeMayGo', phase: 'Drained', blockedBy: [mayGo] },
  },
  'a pod that came later waits for what is reserved for one that stays: both leave, rather than none': {
    given: { record: draining, node: cordoned, pods: [web0, { ...web0, name: 'web-9', uid: 'web-9-1' }] },
    then: {
      reason: 'PodsLeaving',
      phase: 'Draining',
      steps: ['record Draining', 'unlock shop/web', 'evict web-9, web-0 under 1'],
      blockedBy: ['pdb/shop/web: BudgetExhausted, nodedisruption/reboot-a'],
      warnings: [
        'pod/shop/web-9 asks to stay but is evicted: it came after the locks were taken',
        'pod/shop/web-0 asks to stay but is evicted: others of web leave the node, and it does not allow both',
      ],
    },
  },
  'a budget that could spare both and has not for long: both leave': {
    given: {
      nowMs: nowMs + minutes(1),
      request: { fallbackAfterMs: minutes(1) },
      record: draining,
      node: cordoned,
      pods: [web0, { ...web0, name: 'web-9', uid: 'web-9-1', wantsToStay: false }],
      budgets: [locked({ ...web, expectedPods: 4 })],
      ledger: ledgerOf(...acting.entries.map((each) => ({ ...each, renewSequence: 3 }))),
    },
    then: {
      reason: 'PodsLeaving',
      phase: 'Draining',
      steps: ['record Draining', 'unlock shop/web', 'evict web-9, web-0 under 1'],
      blockedBy: ['pdb/shop/web: BudgetExhausted, nodedisruption/reboot-a'],
      warnings: [
        'pod/shop/web-0 asks to stay but is evicted: others of web leave the node, and it does not allow both',
      ],
    },
  },
  'a node that somebody else had cordoned stays on record as theirs': {
    given: { record: planned, node: cordoned, pods: [web0] },
    then: { reason: 'NodeMayGo', phase: 'Drained', steps: ['record Drained'], blockedBy: [mayGo] },
  },
  'a cordon that somebody lifts while pods leave is set again': {
    given: { record: draining },
    then: { reason: 'PodsLeaving', phase: 'Draining', steps: ['cordon', evictJob] },
  },
  'nothing is left but what stays: the node may go, and everything is held': {
    given: { record: draining, node: cordoned, pods: [web0] },
    then: { reason: 'NodeMayGo', phase: 'Drained', steps: ['record Drained'], blockedBy: [mayGo] },
  },
  'a pod that lands on the drained node is evicted in the ordinary way': {
    given: { record: drained, node: cordoned },
    then: { reason: 'PodsLeaving', phase: 'Draining', steps: ['record Draining', evictJob] },
  },
  'a lock is dated anew at half its time': {
    given: {
      record: drained,
      node: cordoned,
      pods: [web0],
      budgets: [{ ...locked(), disruptedUntilMs: { 'web-0': nowMs + minutes(5) - 1 } }],
    },
    then: {
      reason: 'NodeMayGo',
      phase: 'Drained',
      steps: ['lock shop/web for web-0 until 2026-01-01T12:10:00Z under 1'],
      blockedBy: [mayGo],
    },
  },
  'a lock that has lapsed and cannot be had again is said to be gone, and nothing fails for it': {
    given: {
      record: drained,
      node: cordoned,
      pods: [web0],
      budgets: [{ ...locked(), disruptedUntilMs: {} }],
    },
    then: {
      reason: 'NodeMayGo',
      phase: 'Drained',
      blockedBy: [mayGo],
      warnings: ['pdb/shop/web cannot be held for web-0: it allows no eviction now'],
    },
  },
  'a budget that was deleted and made anew is put on record and locked, and the old lock is said to be void': {
    given: {
      record: drained,
      node: cordoned,
      pods: [{ ...web0, budgetUids: ['web-2'] }],
      budgets: [{ ...web, uid: 'web-2' }],
    },
    then: {
      reason: 'NodeMayGo',
      phase: 'Drained',
      steps: ['record Drained', 'lock shop/web for web-0 until 2026-01-01T12:10:00Z under 1'],
      blockedBy: [mayGo],
      warnings: ['pdb/shop/web was deleted and created again: the lock on the old one is void'],
    },
  },
  'a budget that is gone for good is said to be gone': {
    given: { record: drained, node: cordoned, pods: [{ ...web0, budgetUids: [] }], budgets: [] },
    then: {
      reason: 'NodeMayGo',
      phase: 'Drained',
      blockedBy: [mayGo],
      warnings: ['pdb/shop/web was deleted: only the hold in the ledger protects the pods that stay'],
    },
  },
  'a record that was emptied by hand: the keys tell which pods stay': {
    given: { record: blank, node: cordoned },
    then: { reason: 'PodsLeaving', phase: 'Draining', steps: ['record Draining', evictJob] },
  },
  'the holder shows that it lives': {
    given: { nowMs: nowMs + 41_000, record: drained, node: cordoned, pods: [web0] },
    then: { reason: 'NodeMayGo', phase: 'Drained', steps: ['renew under 1'], blockedBy: [mayGo] },
  },
  'what somebody orphaned is adopted': {
    given: {
      record: drained,
      ledger: ledgerOf(...acting.entries.map((each) => ({ ...each, state: 'Orphaned' as const }))),
    },
    then: { reason: 'RequestAdopted', phase: 'Drained', steps: ['adopt'] },
  },
  'whose budget key somebody broke evicts nothing more': {
    given: {
      record: draining,
      node: cordoned,
      ledger: {
        ...ledgerOf(entry('node/node-a', { state: 'Acting', bootID: 'boot-1' })),
        broken: [{ key: 'pdb/shop/web', by: 'eve', reason: 'outage', at: now, formerHolder: 'me' }],
      },
    },
    then: {
      reason: 'LocksBroken',
      phase: 'Draining',
      blockedBy: ['pdb/shop/web: LocksBroken, eve'],
      warnings: ['pdb/shop/web covers web-0 since the node began to go, and is not held for it'],
    },
  },
})

it('the cordon, the boot that goes and who stays are on record before the node is touched', () => {
  const { record } = decideDisruption(tell({ record: planned, ledger: acting, budgets: [locked()] }))
  expect(record).toEqual({ ...draining, evictedPods: [], bootIDAfter: undefined })
})

describe('a node whose kubelet is silent', () => {
  const silent = { isCordoned: true, isReady: false }
  const began = { ...draining, evictedPods: [], skippedPods: [], lockedBudgets: [] }
  const decide = (pods: NonNullable<Scenario['pods']>) =>
    decideDisruption(
      tell({
        ledger: ledgerOf(entry('node/node-a', { state: 'Acting', bootID: 'boot-1' })),
        record: began,
        node: silent,
        budgets: [],
        pods,
      }),
    )

  it('is not drained while a pod of it is terminating: its containers may run, and a second copy would share its volume', () => {
    const { record, warnings } = decide([{ ...job0, isLeaving: true }])
    expect(record.phase).toBe('Draining')
    expect(warnings.map(({ says }) => says)).toEqual(['its kubelet does not answer, so no pod can finish leaving'])
  })

  it('is drained when the API has no pod left, and no text promises that its containers have ended: it may only be unreachable', () => {
    const { record, reason, explanation } = decide([])
    expect([record.phase, reason]).toEqual(['Drained', 'NodeAway'])
    expect(explanation).toContain('that its containers have ended is certain only when the machine is off')
    expect(explanation).not.toContain('now')
  })
})

describe('what keeps a pod on the node is said of each pod', () => {
  const two = [
    { ...job0, budgetUids: ['db-1'] },
    { ...job0, name: 'job-1', uid: 'job-1-1', budgetUids: ['db-1'] },
  ]
  const db = { ...web, name: 'db', uid: 'db-1', disruptionsAllowed: 0, currentHealthy: 2 }
  const decide = (given: Scenario) =>
    decideDisruption(tell({ ledger: acting, record: { ...draining, evictedPods: [] }, node: cordoned, ...given }))

  it('a budget names the pods that it keeps, and none of them is on record as evicted', () => {
    const { blockedBy, record } = decide({ pods: [web0, ...two], budgets: [locked(), db] })
    expect(blockedBy.map(({ object, pods }) => [object, pods])).toEqual([['pdb/shop/db', ['shop/job-0', 'shop/job-1']]])
    expect(record.evictedPods).toEqual([])
  })

  const leaving = { sinceMs: nowMs - 20_000, endsMs: nowMs + 10_000, finalizers: [] }
  const rows: Record<string, { given: typeof leaving; then: { holder: string; says: string } }> = {
    'one that is terminating says when its containers are killed': {
      given: leaving,
      then: { holder: 'kubelet of node-a', says: 'they are killed at' },
    },
    'one whose time is over does not promise to be gone within its grace period: it waited for the kubelet for hours': {
      given: { ...leaving, endsMs: nowMs - 5_000 },
      then: { holder: 'kubelet of node-a', says: 'it is gone when the kubelet reports' },
    },
    'one with a finalizer names it: no grace period ends that wait': {
      given: { ...leaving, finalizers: ['shop.example/backup'] as never },
      then: { holder: 'finalizer shop.example/backup', says: 'shop.example/backup is removed by the controller' },
    },
  }
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
    const { blockedBy, record } = decide({
      pods: [web0, { ...job0, isLeaving: true, leaving: given }],
      budgets: [locked()],
    })
    const [blocker] = blockedBy
    expect(blocker).toMatchObject({ object: 'pod/shop/job-0', reason: 'PodIsLeaving', holder: then.holder })
    expect(blocker?.since).toBe(rfc3339(nowMs - 20_000))
    expect(blocker?.wayOut).toContain(then.says)
    expect(record.evictedPods.map(({ name }) => name)).toEqual(['job-0'])
  })
})

describe('what a drain says when something is missing', () => {
  const decide = (given: Scenario) =>
    decideDisruption(tell({ budgets: [locked()], ledger: acting, node: cordoned, record: draining, ...given }))

  it.each([
    ['Reboot', 'rebooted'],
    ['Remove', 'removed'],
    ['Replace', 'replaced'],
  ] as const)('a node that is drained to %s can be %s now', (intent, act) => {
    const { explanation } = decide({ request: { intent }, pods: [] })
    expect(explanation).toBe(`node-a is drained and can be ${act} now.`)
  })

  it('storage that was broken after it was taken stops the drain: another node of it may be away', () => {
    const broken = [{ key: ceph.key, by: 'eve', reason: 'fire', at: now, holders: [] }]
    const stopped = decide({ storage: [ceph], ledger: { ...acting, broken } as never })
    expect([stopped.reason, stopped.blockedBy.map(({ object }) => object)]).toEqual(['LocksBroken', [ceph.key]])
    const before = [{ ...broken[0], at: '2025-01-01T00:00:00Z' }]
    expect(decide({ storage: [ceph], ledger: { ...acting, broken: before } as never }).reason).not.toBe('LocksBroken')
  })

  it('an intent without the boot that goes takes the present one: a reboot could not be told from none', () => {
    const ledger = ledgerOf(entry('node/node-a', { state: 'Acting' }), entry('pdb/shop/web', { state: 'Acting' }))
    expect(decide({ ledger, record: { ...draining, bootIDBefore: '' } }).record.bootIDBefore).toBe('boot-1')
  })

  it('a pod that leaves and does not say since when has been leaving since the keys were taken', () => {
    const { blockedBy } = decide({ pods: [{ ...job0, isLeaving: true }] })
    expect(blockedBy.map(({ reason, since }) => [reason, since])).toEqual([['PodIsLeaving', now]])
  })

  it('a budget that another request holds keeps its pods for that request', () => {
    const db = { ...web, name: 'db', uid: 'db-1' }
    const held = entry('pdb/shop/db', { requestId: 'R2', holder: other, state: 'Acting' })
    const { blockedBy } = decide({
      pods: [web0, { ...job0, budgetUids: ['db-1'] }],
      budgets: [locked(), db],
      ledger: ledgerOf(...acting.entries, held),
    })
    expect(blockedBy.map(({ object, reason, holder }) => [object, reason, holder])).toEqual([
      ['pdb/shop/db', 'HeldByRequest', other],
    ])
  })

  it('of more than twenty things that keep a node the first are told: the record would grow with every pod', () => {
    const pods = Array.from({ length: 25 }, (_, at) => ({ ...job0, name: `j-${at}`, uid: `j-${at}`, isLeaving: true }))
    expect(decide({ pods }).blockedBy).toHaveLength(20)
  })

  it('a budget that cannot be held any more says whether it was counted', () => {
    const says = (budget: typeof web) => decide({ budgets: [budget] }).warnings.map((each) => each.says)
    expect(says({ ...web, isCounted: false })).toEqual([
      'cannot be held for web-0: it has not been counted since it changed',
    ])
    expect(says({ ...web, disruptionsAllowed: 0 })).toEqual(['cannot be held for web-0: it allows no eviction now'])
  })

  it('pods that stay are not evicted for others of their budget once the node is away: nobody can leave any more', () => {
    const second = { ...web0, name: 'web-1', uid: 'web-1-1', wantsToStay: false }
    const budgets = [{ ...locked(), disruptionsAllowed: 0, desiredHealthy: 2, expectedPods: 3 }]
    const warned = (isReady: boolean) =>
      decide({ pods: [web0, second], budgets, node: { ...cordoned, isReady } }).warnings.some(({ says }) =>
        says.includes('it does not allow both'),
      )
    expect([warned(true), warned(false)]).toEqual([true, false])
  })
})
