import type { PodDisruptionBudget } from '../api/policy.ts'
import type { BudgetWrite } from '../domain/budget-write.ts'
import type { CephDrainDecision } from '../domain/ceph-drain/decision.ts'
import { buildOsdBudget, planOsdBudgets } from '../domain/ceph-drain/osd-budgets.ts'
import { decideRemoval, retireBudget, withoutRetirement } from '../domain/ceph-drain/retire-budget.ts'
import type { CephDrainSnapshot } from '../domain/ceph-drain/snapshot.ts'

/** The plan for the budgets of OSDs, as writes of objects; `present` are the objects that the snapshot was made of. */
export function planBudgetWrites(
  snapshot: Pick<CephDrainSnapshot, 'cluster' | 'budgets' | 'nowMs'>,
  present: readonly PodDisruptionBudget[],
  decision: Pick<CephDrainDecision, 'budgets'>,
): BudgetWrite[] {
  const seenByName = new Map(present.map((budget) => [budget.metadata.name, budget]))
  return planOsdBudgets(snapshot.budgets, decision.budgets).flatMap((step): BudgetWrite[] => {
    const seen = seenByName.get(step.action === 'apply' ? step.budget.name : step.name)
    if (step.action === 'delete') return removal(seen as PodDisruptionBudget)
    const budget = buildOsdBudget(snapshot.cluster, step.budget)
    return seen === undefined
      ? [{ verb: 'create', budget }]
      : [{ verb: 'replace', seen: withoutRetirement(seen), budget }]
  })

  function removal(seen: PodDisruptionBudget): BudgetWrite[] {
    // Who hands the budgets back hands the pods back too: nothing is left here that comes back to delete later.
    const isHandedBack = snapshot.cluster.mode === 'hand-back'
    switch (isHandedBack ? 'delete' : decideRemoval(seen, snapshot.nowMs)) {
      case 'retire':
        return [{ verb: 'replace', seen, budget: retireBudget(seen, snapshot.nowMs) }]
      case 'wait':
        return []
      case 'delete':
        return [{ verb: 'delete', seen }]
    }
  }
}
