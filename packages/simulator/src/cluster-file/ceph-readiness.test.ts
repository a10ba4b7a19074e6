import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { expect, it } from 'vitest'
import type { CephStatus } from './ask-ceph-status.ts'
import { judgeCephReadiness } from './ceph-readiness.ts'

const osd = (id: number) => ({ id, node: 'n', location: { root: 'default', zone: 'a', host: 'n' } })
const ceph = (managePodBudgets = true) => ({
  namespace: 'rook-ceph',
  name: 'blue',
  osds: [osd(0), osd(1)],
  disruptionManagement: { managePodBudgets },
})
const status = (upOsdCount: number, cleanPgCount: number): CephStatus => ({
  fsid: 'f',
  health: 'HEALTH_OK',
  upOsdCount,
  pgCount: 8,
  cleanPgCount,
})
const budget: PodDisruptionBudget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'rook-ceph-osd', namespace: 'rook-ceph', creationTimestamp: '2026-01-01T12:00:00Z' },
  spec: { maxUnavailable: 1 },
  status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
}
const closed = { ...budget, status: { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 2 } }
const nowMs = Date.parse('2026-01-01T12:00:10Z')

const cases: Record<string, { given: Parameters<typeof judgeCephReadiness>; then: string[] }> = {
  'all OSDs up, all data clean and the budget there is ready': {
    given: [ceph(), { status: status(2, 8), budgets: [budget], nowMs }],
    then: [],
  },
  'everything that is missing is named': {
    given: [ceph(), { status: status(1, 3), budgets: [], nowMs }],
    then: [
      'OSDs of rook-ceph/blue (1 of 2)',
      'placement groups of rook-ceph/blue (3 of 8 clean)',
      'budget rook-ceph/rook-ceph-osd',
    ],
  },
  'a Ceph that does not answer is waited for': {
    given: [ceph(), { status: { silent: 'no mon answers' }, budgets: [budget], nowMs }],
    then: ['Ceph rook-ceph/blue (no mon answers)'],
  },
  'a new budget that allows nothing is waited for: data is judged, and what there is to try would be another thing': {
    given: [ceph(), { status: status(2, 8), budgets: [closed], nowMs }],
    then: ['budget rook-ceph/rook-ceph-osd'],
  },
  'a budget that has allowed nothing for half a minute is meant to': {
    given: [ceph(), { status: status(2, 8), budgets: [closed], nowMs: nowMs + 20_000 }],
    then: [],
  },
  'a budget that nobody is asked to keep is not waited for': {
    given: [ceph(false), { status: status(2, 8), budgets: [], nowMs }],
    then: [],
  },
}
it.each(Object.entries(cases))('%s', (_name, { given, then }) => {
  expect(judgeCephReadiness(...given)).toEqual(then)
})
