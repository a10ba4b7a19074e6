import { describe, expect, it } from 'vitest'
import { emptyLedger, type Ledger } from '../../../ledger/rules/ledger.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { decideRestartWay, type RestartBudget, type RestartQuestion, type RestartWay } from './restart-way.ts'

const nowMs = Date.parse('2026-11-15T12:00:00Z')
const pod: RestartQuestion['pod'] = {
  namespace: 'rook-ceph',
  name: 'rook-ceph-osd-0-x',
  uid: 'pod-0',
  nodeName: 'node-a',
  isLeaving: false,
  isCounted: true,
  isReady: true,
}
const budget = (given: Partial<RestartBudget> = {}): RestartBudget => ({
  namespace: 'rook-ceph',
  name: 'rook-ceph-osd',
  uid: 'budget-0',
  isOurs: true,
  appLock: undefined,
  room: 0,
  ...given,
})
const foreign = (given: Partial<RestartBudget> = {}) => budget({ isOurs: false, room: 1, ...given })
const appLock = {
  holder: 'alice',
  reason: 'a backup runs',
  sinceMs: nowMs,
  writtenMs: nowMs,
  untilMs: nowMs + 3_600_000,
}
const held: Ledger = {
  ...emptyLedger,
  entries: [
    {
      key: 'pdb/rook-ceph/rook-ceph-osd',
      uid: 'budget-0',
      scope: '',
      requestId: 'request-1',
      holder: 'nodedisruption/reboot',
      epoch: 1,
      since: '2026-11-15T11:00:00Z',
      renewSequence: 1,
      state: 'Acting',
    },
  ],
}

describe('the pod of an OSD that Rook deploys', () => {
  const rows: Record<
    string,
    { budgets: readonly RestartBudget[]; ready?: boolean; ledger?: Observed<Ledger>; then: RestartWay }
  > = {
    'under our own budget, closed because the update holds the storage: it passes, or no OSD would ever be restarted': {
      budgets: [budget()],
      then: { way: 'past-own-budgets' },
    },
    'under our own budget that is not closed yet: it is evicted within it, or a drain could take another OSD in the same moment':
      { budgets: [budget({ room: 1 })], then: { way: 'evict', within: { budget: 'rook-ceph-osd', room: 1 } } },
    'under two of our own, which are being exchanged: it passes': {
      budgets: [budget({ room: 1 }), budget({ name: 'rook-ceph-osd-host-a' })],
      then: { way: 'past-own-budgets' },
    },
    'under no budget: it is evicted': { budgets: [], then: { way: 'evict' } },
    'under the budget of somebody else that has room: it is evicted within it': {
      budgets: [foreign({ room: 2 })],
      then: { way: 'evict', within: { budget: 'rook-ceph-osd', room: 2 } },
    },
    'under the budget of somebody else without room: it waits, and nobody is asked to evict it in vain': {
      budgets: [foreign({ room: 0 })],
      then: { way: 'wait', why: 'poddisruptionbudget/rook-ceph-osd allows no disruption now' },
    },
    'not ready, under a used-up budget of somebody else: the API server has the last word, or a broken OSD would block all':
      {
        budgets: [foreign({ room: 0 })],
        ready: false,
        then: { way: 'evict' },
      },
    'under ours and that of somebody else: it waits, for a deletion would break a promise that is not ours': {
      budgets: [budget(), foreign({ name: 'team-storage' })],
      then: {
        way: 'wait',
        why: 'poddisruptionbudget/rook-ceph-osd and poddisruptionbudget/team-storage cover its pod, and the API server evicts no pod that more than one budget covers: it goes when one is left',
      },
    },
    'under our own budget that its owner has locked: it waits as for any drain': {
      budgets: [budget({ appLock })],
      then: {
        way: 'wait',
        why: 'Pod rook-ceph/rook-ceph-osd-0-x must stay: alice locked budget rook-ceph/rook-ceph-osd until 2026-11-15T13:00:00Z (a backup runs); it may go then, or when annotation cofferdam.io/lock is removed.',
      },
    },
    'under our own budget whose lock has ended: it passes': {
      budgets: [budget({ appLock: { ...appLock, untilMs: nowMs } })],
      then: { way: 'past-own-budgets' },
    },
    'under a budget that a request holds for pods that stay: it waits': {
      budgets: [budget()],
      ledger: known(held),
      then: {
        way: 'wait',
        why: 'Pod rook-ceph/rook-ceph-osd-0-x must stay: nodedisruption/reboot holds pdb/rook-ceph/rook-ceph-osd since 2026-11-15T11:00:00Z, for pods that stay on another node while it reboots; it is released when that node is back and the pods that stayed on it are ready.',
      },
    },
    'while the ledger cannot be read: it waits': {
      budgets: [budget()],
      ledger: unknown('it is gone'),
      then: { way: 'wait', why: 'who holds its budgets is not known: it is gone' },
    },
  }
  it.each(Object.entries(rows))('%s', (_sentence, { budgets, ready = true, ledger = known(emptyLedger), then }) => {
    expect(decideRestartWay({ nowMs, pod: { ...pod, isReady: ready }, budgets, ledger })).toEqual(then)
  })
})
