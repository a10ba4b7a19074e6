import type { CephClusterView } from '../../../safety/ceph-cluster-view.ts'
import type { Reason } from '../../../shared/reasons.ts'

/** Why Cofferdam changes none of the budgets of a cluster, and what to do to hand them over. */
export function explainObserving({
  namespace,
  name,
  mode,
  rook,
}: Pick<CephClusterView, 'namespace' | 'name' | 'mode' | 'rook'>): { reason: Reason; explanation: string } {
  const key = `${namespace}/${name}`
  const handOver = `To hand them over: cofferdam adopt cephcluster/${key}.`
  if (mode === 'contested') {
    const explanation = `The budgets of ${key} are handed over to Cofferdam, and spec.disruptionManagement.managePodBudgets has Rook manage them too; Cofferdam changes none of them. ${handOver}`
    return { reason: 'BudgetsContested', explanation }
  }
  if (rook?.managesBudgets === true) {
    const explanation = `Rook manages the budgets of ${key}; Cofferdam only observes. ${handOver}`
    return { reason: 'ManagedElsewhere', explanation }
  }
  const explanation = `No operator manages the budgets of ${key}; Cofferdam only observes. ${handOver}`
  return { reason: 'HandedBack', explanation }
}
