import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { CephStatus, SilentCeph } from './ask-ceph-status.ts'
import type { CephClusterDescription } from './describe-ceph.ts'

/** By then whoever manages the budget has judged all data: what allows nothing then is meant to. */
const judgedWithinMs = 30_000

/** What a Ceph cluster still lacks after its pods are up: OSDs in the map, clean data, and budgets. */
export function judgeCephReadiness(
  ceph: Pick<CephClusterDescription, 'namespace' | 'name' | 'osds' | 'disruptionManagement'>,
  seen: {
    readonly status: CephStatus | SilentCeph
    readonly budgets: readonly PodDisruptionBudget[]
    readonly nowMs: number
  },
): string[] {
  const { status, budgets, nowMs } = seen
  const name = keyText(ceph)
  if ('silent' in status) return [`Ceph ${name} (${status.silent})`]
  const { upOsdCount, pgCount, cleanPgCount } = status
  const budget = `${ceph.namespace}/rook-ceph-osd`
  const held = budgets.find((each) => keyText(keyOf(each)) === budget)
  const isClosed = held !== undefined && (held.status?.disruptionsAllowed ?? 0) === 0
  const isYoung = nowMs - (parseRfc3339(held?.metadata.creationTimestamp ?? '') ?? 0) < judgedWithinMs
  return [
    ...(upOsdCount < ceph.osds.length ? [`OSDs of ${name} (${upOsdCount} of ${ceph.osds.length})`] : []),
    ...(cleanPgCount < pgCount ? [`placement groups of ${name} (${cleanPgCount} of ${pgCount} clean)`] : []),
    ...(ceph.disruptionManagement.managePodBudgets && (held === undefined || (isClosed && isYoung))
      ? [`budget ${budget}`]
      : []),
  ]
}
