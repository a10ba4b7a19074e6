import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { Attendance } from '../../../shared/attendance.ts'
import { nameOf } from '../../../shared/ceph-trust/named-clusters.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { machineBudgetNames } from '../domain/budget-name.ts'
import { parseEvidence } from '../domain/budget-notes.ts'
import { clusterId } from '../domain/fence-labels.ts'
import { marks } from '../domain/marks.ts'
import { parseFencingSettings } from '../domain/settings.ts'
import type { FencedCluster } from '../domain/snapshot.ts'
import { areMachinesServed, type FencingViews } from './observe.ts'

/** What is written down where everybody can read it. */
export interface FencingRecord {
  readonly nowMs: number
  readonly views: Pick<FencingViews, 'clusters' | 'budgets' | 'openshiftMachines' | 'clusterApiMachines'>
  readonly attendance: Attendance
}

/**
 * What the operator knew of Ceph when it decided last, as it wrote it on the budget: whoever explains does not ask Ceph itself.
 *
 * Fails closed: what nobody keeps up to date, and what cannot be read, is not known.
 */
export function recordedEvidence(
  record: FencingRecord,
): (cluster: CephCluster) => Pick<FencedCluster, 'evidence' | 'silence'> {
  const { nowMs, attendance, views } = record
  const budgetNames = machineBudgetNames([...views.clusters.list()].map(nameOf))
  const nothing = (why: string) => ({ evidence: unknown(why) })
  return (cluster) => {
    if (attendance.isAttended === false) return nothing('no operator is running that would poll it')
    if (attendance.isAttended === undefined)
      return nothing('only the operator polls it, and it is not known whether one runs')
    const { budgetNamespace } = parseFencingSettings(cluster, areMachinesServed(views))
    const name = budgetNames.get(clusterId(nameOf(cluster))) ?? ''
    const budget = views.budgets.get({ namespace: budgetNamespace, name })
    if (budget === undefined) return nothing('only the operator polls it, and it has created no budget yet')
    const { evidence, silence } = parseEvidence(budget.metadata.annotations?.[marks.evidence])
    return {
      evidence: evidence.known ? known({ ...evidence.value, polledAtMs: nowMs, isRecord: true }) : evidence,
      ...(silence === undefined ? {} : { silence }),
    }
  }
}
