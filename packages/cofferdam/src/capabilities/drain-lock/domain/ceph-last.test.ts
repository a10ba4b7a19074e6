import { describe, expect, it } from 'vitest'
import { decideDisruption } from './decide.ts'
import type { PodFacts } from './snapshot.ts'
import {
  acting,
  ceph,
  draining,
  entry,
  inWords,
  job0,
  ledgerOf,
  minutes,
  nowMs,
  type Scenario,
  tell,
  web,
} from './testing/fixture.ts'

const osd3: PodFacts = { ...job0, namespace: 'rook-ceph', name: 'rook-ceph-osd-3', uid: 'osd-3', cephDaemon: 'osd' }
const osd4: PodFacts = { ...osd3, name: 'rook-ceph-osd-4', uid: 'osd-4' }
const full = { ...web, disruptionsAllowed: 0, currentHealthy: 2 }
const shop0: PodFacts = { ...job0, name: 'web-1', uid: 'web-1-1', budgetUids: [web.uid] }
const mon = { ...full, namespace: 'rook-ceph', name: 'rook-ceph-mon-pdb', uid: 'mon-1', followers: 'mons' } as const
const mon0: PodFacts = {
  ...job0,
  namespace: 'rook-ceph',
  name: 'rook-ceph-mon-a',
  uid: 'mon-a',
  budgetUids: ['mon-1'],
  cephDaemon: 'mon',
}
const going = (endsMs: number): PodFacts => ({
  ...job0,
  isLeaving: true,
  leaving: { sinceMs: nowMs - minutes(5), endsMs, finalizers: [] },
})

const held = ledgerOf(
  ...acting.entries.filter(({ key }) => key === 'node/node-a'),
  entry('storage/rook-ceph/main', { state: 'Acting', scope: 'zone-a' }),
)

const rows: Record<string, Scenario & { readonly pods: readonly PodFacts[]; evicts: string; waits?: string[] }> = {
  'OSDs leave at once where every other pod can, so that a drain takes no longer than it must': {
    pods: [job0, osd3],
    evicts: 'job-0, rook-ceph-osd-3',
  },
  'OSDs stay while the budget of an application keeps a pod, so a tenant cannot keep a failure domain away for days': {
    pods: [shop0, osd3, osd4],
    budgets: [full],
    evicts: 'web-1',
    waits: ['pdb/shop/web: CephLeavesLast, its own pods for rook-ceph-osd-3, rook-ceph-osd-4'],
  },
  'a mon beside OSDs stays with them, or its quorum would be short for as long': {
    pods: [shop0, mon0, osd3],
    budgets: [full, mon],
    evicts: 'web-1',
    waits: ['pdb/shop/web: CephLeavesLast, its own pods for rook-ceph-mon-a, rook-ceph-osd-3'],
  },
  'a mon that goes after the OSDs does not keep them, or both would wait for ever': {
    pods: [mon0, osd3],
    budgets: [mon],
    evicts: 'rook-ceph-mon-a, rook-ceph-osd-3',
  },
  'a mon on a node without OSDs stays while a pod is kept: gone, it would keep the drain of every other node with a mon waiting':
    {
      // No budget covers it while its node is closed.
      pods: [shop0, { ...mon0, budgetUids: [] }],
      budgets: [full],
      storage: [],
      evicts: 'web-1',
      waits: ['pdb/shop/web: CephLeavesLast, its own pods for rook-ceph-mon-a'],
    },
  'a mon on a node without OSDs goes at once where every other pod can': {
    pods: [job0, mon0],
    budgets: [{ ...mon, disruptionsAllowed: 1 }],
    storage: [],
    evicts: 'job-0, rook-ceph-mon-a',
  },
  'a pod of a tenant that says it is a mon keeps the OSDs like any other, or they would be away for as long as it likes':
    {
      pods: [{ ...mon0, namespace: 'shop' }, osd3],
      budgets: [{ ...mon, namespace: 'shop' }],
      evicts: 'rook-ceph-mon-a',
      waits: ['pdb/shop/rook-ceph-mon-pdb: CephLeavesLast, its own pods for rook-ceph-osd-3'],
    },
  'a pod of a tenant with the labels of an OSD is a pod like any other': {
    pods: [{ ...shop0, cephDaemon: 'osd' }, osd3],
    budgets: [full],
    evicts: 'web-1',
    waits: ['pdb/shop/web: CephLeavesLast, its own pods for rook-ceph-osd-3'],
  },
  'a pod that still ends is not waited for: it will be gone': {
    pods: [going(nowMs + minutes(1)), osd3],
    evicts: 'rook-ceph-osd-3',
  },
  'a pod whose time to end is long over keeps the OSDs, since nobody knows when the drain ends': {
    pods: [going(nowMs - minutes(1)), osd3],
    evicts: '',
    waits: ['pod/shop/job-0: CephLeavesLast, kubelet of node-a for rook-ceph-osd-3'],
  },
  'break-glass waits for no pod': {
    pods: [shop0, osd3],
    budgets: [full],
    request: { breakGlass: { by: 'alice', reason: 'fire', untilMs: nowMs + minutes(5) } },
    evicts: 'web-1, rook-ceph-osd-3',
  },
  'OSDs of a node that is away serve nobody, and stay for nobody': {
    pods: [shop0, osd3],
    budgets: [full],
    node: { isCordoned: true, isReady: false },
    evicts: 'web-1, rook-ceph-osd-3',
  },
}

describe('daemons of Ceph leave last', () => {
  it.each(Object.entries(rows))('%s', (_, { evicts, waits = [], ...scenario }) => {
    const decision = decideDisruption(
      tell({
        record: { ...draining, lockedBudgets: [], skippedPods: [] },
        node: { isCordoned: true },
        budgets: [],
        ledger: held,
        storage: [ceph],
        ...scenario,
      }),
    )
    const evicted = (inWords(decision).steps ?? []).find((step) => step.startsWith('evict')) ?? ''
    expect(evicted).toBe(evicts === '' ? '' : `evict ${evicts} under 1`)
    // What keeps the drain is named before what waits because of it.
    expect(decision.blockedBy.slice(0, waits.length === 0 ? 0 : 1).map(({ reason }) => reason)).not.toContain(
      'CephLeavesLast',
    )
    const last = decision.blockedBy.filter(({ reason }) => reason === 'CephLeavesLast')
    const names = (pods: readonly string[] = []) => pods.map((pod) => pod.replace('rook-ceph/', '')).join(', ')
    expect(
      last.map(({ object, reason, holder, pods }) => `${object}: ${reason}, ${holder} for ${names(pods)}`),
    ).toEqual(waits)
  })
})
