import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { CephStatus } from '@cofferdam/product/ceph/parse-status.ts'
import type { Observed } from '@cofferdam/product/shared/observed.ts'
import type { CephClusterDescription } from './describe-ceph.ts'

/** What a Ceph cluster still lacks after its pods are up: OSDs in the map, clean data, and budgets. */
export function judgeCephReadiness(
  ceph: Pick<CephClusterDescription, 'namespace' | 'name' | 'osds' | 'disruptionManagement'>,
  seen: { readonly status: Observed<CephStatus>; readonly budgets: readonly PodDisruptionBudget[] },
): string[] {
  const { status, budgets } = seen
  const name = keyText(ceph)
  if (!status.known) return [`Ceph ${name} (${status.why})`]
  const { upOsdCount, pgCount, pgsByState } = status.value
  const clean = pgsByState['active+clean'] ?? 0
  const budget = `${ceph.namespace}/rook-ceph-osd`
  const hasBudget = budgets.some((held) => keyText(keyOf(held)) === budget)
  return [
    ...(upOsdCount < ceph.osds.length ? [`OSDs of ${name} (${upOsdCount} of ${ceph.osds.length})`] : []),
    ...(clean < pgCount ? [`placement groups of ${name} (${clean} of ${pgCount} clean)`] : []),
    ...(ceph.disruptionManagement.managePodBudgets && !hasBudget ? [`budget ${budget}`] : []),
  ]
}
