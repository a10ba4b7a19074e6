import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import { withoutMark } from './budget-mark.ts'
import { buildOsdBudget } from './osd-budgets.ts'
import { type PlannedRelease, planRelease } from './plan-release.ts'
import { retireBudget } from './retire-budget.ts'
import { nowMs, ours, type Scenario, tell } from './testing/fixture.ts'

const twoEach = { 'zone-1': [1, 4], 'zone-2': [2, 5], 'zone-3': [3, 6] }
const ourMap = {
  'draining-failure-domain': 'zone-1',
  'draining-failure-domain-duration': '2026-01-01T11:59:00Z',
  'set-no-out': 'true',
  'zone-1-noout-last-set-at': '2026-01-01T11:59:00Z',
  'cofferdam.io_open-domains': 'zone-1',
  'cofferdam.io_own-noout': 'zone-1',
  'cofferdam.io_spare-osds': '',
}
const {
  'cofferdam.io_open-domains': _o,
  'cofferdam.io_own-noout': _n,
  'cofferdam.io_spare-osds': _s,
  ...rooksMap
} = ourMap
const notes = { 'cofferdam.io/reason': 'DomainReleased' }
const single = {
  name: 'rook-ceph-osd-unplaced',
  maxUnavailable: 0,
  selector: { covers: 'osds', osds: [5] },
  isOurs: true,
} as const

interface Row {
  readonly given: Scenario
  /** Names of budgets without our mark. */
  readonly unmarked?: readonly string[]
  readonly data?: Record<string, string>
  readonly annotations?: Record<string, string>
  readonly present?: readonly PodDisruptionBudget[]
  readonly flags?: Parameters<typeof planRelease>[0]['flags']
  readonly isReachable?: boolean
  /** `release NAME`, `remove NAME` */
  readonly budgets?: readonly string[]
  readonly unset?: readonly string[]
  readonly left?: readonly string[]
  readonly record?: PlannedRelease['record']
}

const toRook: Scenario = { mode: 'observe', rook: { managesBudgets: true }, zones: twoEach }
const toNobody: Scenario = { mode: 'observe', rook: { managesBudgets: false }, zones: twoEach }
const inDrain = {
  down: [1, 4],
  cordoned: ['node-1'],
  budgets: ours('zone-2', 'zone-3'),
  ceph: { nooutBuckets: ['zone-1', 'zone-3'] },
}

const rows: Record<string, Row> = {
  'to Rook in calm: the default budget stays for it, without our mark': {
    given: { ...toRook, budgets: ours('default') },
    budgets: ['release rook-ceph-osd'],
  },
  "to Rook in the middle of a drain: blocks stay, the drain stays on record, and noout of that drain is Rook's": {
    given: { ...toRook, ...inDrain },
    data: ourMap,
    annotations: notes,
    budgets: ['release rook-ceph-osd-zone-zone-2', 'release rook-ceph-osd-zone-zone-3'],
    record: { data: rooksMap, annotations: {} },
  },
  'to Rook with two domains open: Rook knows one of them, so noout of the other is ended first': {
    given: { ...toRook, ...inDrain },
    data: { ...ourMap, 'cofferdam.io_open-domains': 'zone-1,zone-3', 'cofferdam.io_own-noout': 'zone-1,zone-3' },
    budgets: ['release rook-ceph-osd-zone-zone-2', 'release rook-ceph-osd-zone-zone-3'],
    unset: ['zone-3'],
    left: ['zone-3'],
    record: { data: { ...rooksMap, 'cofferdam.io_own-noout': 'zone-3' }, annotations: {} },
  },
  'to Rook, interrupted after the first budget: the rest follows': {
    given: { ...toRook, ...inDrain },
    unmarked: ['rook-ceph-osd-zone-zone-2'],
    budgets: ['release rook-ceph-osd-zone-zone-3'],
  },
  'to Rook, all done: nothing is written, and noout that Rook has on record is not taken for ours': {
    given: { ...toRook, ...inDrain },
    unmarked: ['rook-ceph-osd-zone-zone-2', 'rook-ceph-osd-zone-zone-3'],
    data: rooksMap,
  },
  'to Rook, a budget that it does not know stays while nothing else selects its OSDs': {
    given: { ...toRook, ...inDrain, budgets: [...ours('zone-3'), single] },
    budgets: ['release rook-ceph-osd-zone-zone-3'],
  },
  "to Rook, a budget that it does not know goes when Rook's own selects its OSDs": {
    given: { ...toRook, budgets: [...ours('default'), single] },
    unmarked: ['rook-ceph-osd'],
    budgets: ['remove rook-ceph-osd-unplaced'],
  },
  'to Rook, blocks of a type of failure domain that no pool has would stay for ever: they go under the default budget':
    {
      given: { ...toRook, budgets: ours('default', 'zone-2'), ceph: { failureDomainType: 'host' } },
      budgets: ['release rook-ceph-osd', 'remove rook-ceph-osd-zone-zone-2'],
    },
  'to nobody: all budgets of ours go, noout is ended and stays on record until it is': {
    given: { ...toNobody, ...inDrain },
    data: ourMap,
    annotations: notes,
    budgets: ['remove rook-ceph-osd-zone-zone-2', 'remove rook-ceph-osd-zone-zone-3'],
    unset: ['zone-1'],
    left: ['zone-1'],
    record: { data: { 'cofferdam.io_own-noout': 'zone-1' }, annotations: {} },
  },
  'to nobody, noout ended: the ConfigMap goes': {
    given: { ...toNobody, ...inDrain },
    data: ourMap,
    flags: { set: [], unset: ['zone-1'], gone: [], failed: [] },
    budgets: ['remove rook-ceph-osd-zone-zone-2', 'remove rook-ceph-osd-zone-zone-3'],
    record: { data: undefined, annotations: {} },
  },
  'to nobody, and Ceph is silent: the flag stays on record, or nobody would ever end it': {
    given: { ...toNobody, ...inDrain, silentMs: 60_000 },
    data: ourMap,
    budgets: ['remove rook-ceph-osd-zone-zone-2', 'remove rook-ceph-osd-zone-zone-3'],
    left: ['zone-1'],
    record: { data: { 'cofferdam.io_own-noout': 'zone-1' }, annotations: {} },
  },
  "to nobody, and the budgets and the ConfigMap are Rook's own: nothing of them is touched": {
    given: { ...toNobody, ...inDrain },
    unmarked: ['rook-ceph-osd-zone-zone-2', 'rook-ceph-osd-zone-zone-3'],
    data: rooksMap,
  },
  'to nobody, and others keep something in the ConfigMap: that stays': {
    given: { ...toNobody },
    data: { ...ourMap, 'cofferdam.io_own-noout': '', 'their-key': 'theirs' },
    annotations: { ...notes, theirs: 'too' },
    record: { data: { 'their-key': 'theirs' }, annotations: { theirs: 'too' } },
  },
  'to nobody, and an administrator set noout himself: that stays': {
    given: { ...toNobody, ceph: { nooutBuckets: ['zone-2'] } },
    data: { ...ourMap, 'cofferdam.io_own-noout': '' },
    record: { data: undefined, annotations: {} },
  },
}

describe('what is ours leaves a cluster', () => {
  it.each(Object.entries(rows))('%s', (_sentence, row) => {
    const snapshot = tell(row.given)
    const present = snapshot.budgets
      .map((budget) => buildOsdBudget(snapshot.cluster, budget))
      .map((budget) => (row.unmarked?.includes(budget.metadata.name) === true ? withoutMark(budget) : budget))
    const map: ConfigMap | undefined = row.data && {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'rook-ceph-pdbstatemap', ...(row.annotations && { annotations: row.annotations }) },
      data: row.data,
    }
    const isReachable = row.isReachable ?? true
    const plan = planRelease({ snapshot, present, map, isReachable, flags: row.flags })
    expect(plan.budgets.map(textOf)).toEqual(row.budgets ?? [])
    expect([plan.unset, plan.left]).toEqual([row.unset ?? [], row.left ?? []])
    expect(plan.record).toEqual(row.record)
  })

  it('a budget that has nothing to do with OSDs is neither released nor counted as holding one', () => {
    const snapshot = tell({ ...toRook, budgets: ours('default') })
    const [budget] = snapshot.budgets.map((each) => buildOsdBudget(snapshot.cluster, each))
    const app = { ...budget, metadata: { name: 'shop', namespace: 'rook-ceph' } } as PodDisruptionBudget
    const present = [app, budget as PodDisruptionBudget]
    const plan = planRelease({ snapshot, present, map: undefined, isReachable: true, flags: undefined })
    expect(plan.budgets.map(textOf)).toEqual(['release rook-ceph-osd'])
  })

  it('a default budget that is being removed is released as it is: Rook rewrites it, or deletes it', () => {
    const snapshot = tell({ ...toRook, budgets: ours('default') })
    const [budget] = snapshot.budgets.map((each) => buildOsdBudget(snapshot.cluster, each))
    const present = [retireBudget(budget as PodDisruptionBudget, nowMs)]
    const plan = planRelease({ snapshot, present, map: undefined, isReachable: true, flags: undefined })
    expect(plan.budgets.map(textOf)).toEqual(['release rook-ceph-osd'])
  })
})

function textOf(write: PlannedRelease['budgets'][number]): string {
  if (write.verb === 'create') return `create ${write.budget.metadata.name}`
  const { name, labels } = write.seen.metadata
  const isReleased = write.verb === 'replace' && labels === undefined && write.budget.spec === write.seen.spec
  return `${isReleased ? 'release' : write.verb === 'delete' ? 'remove' : 'change'} ${name}`
}
