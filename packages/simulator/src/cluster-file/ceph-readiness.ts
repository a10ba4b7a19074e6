import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { CephStatus, SilentCeph } from './ask-ceph-status.ts'
import type { CephClusterDescription } from './describe-ceph.ts'

/** What a Ceph cluster still lacks after its pods are up: OSDs in the map, clean data, and budgets. */
export function judgeCephReadiness(
  ceph: Pick<CephClusterDescription, 'namespace' | 'name' | 'osds' | 'disruptionManagement'>,
  seen: { readonly status: CephStatus | SilentCeph; readonly budgets: readonly PodDisruptionBudget[] },
): string[] {
  const { status, budgets } = seen
  const name = keyText(ceph)
  if ('silent' in status) return [`Ceph ${name} (${status.silent})`]
  const { upOsdCount, pgCount, cleanPgCount } = status
  const budget = `${ceph.namespace}/rook-ceph-osd`
  const hasBudget = budgets.some((held) => keyText(keyOf(held)) === budget)
  return [
    ...(upOsdCount < ceph.osds.length ? [`OSDs of ${name} (${upOsdCount} of ${ceph.osds.length})`] : []),
    ...(cleanPgCount < pgCount ? [`placement groups of ${name} (${cleanPgCount} of ${pgCount} clean)`] : []),
    ...(ceph.disruptionManagement.managePodBudgets && !hasBudget ? [`budget ${budget}`] : []),
  ]
}
