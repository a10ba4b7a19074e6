import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { isManagedByUs } from './budget-mark.ts'
import type { CephDrainDecision } from './decision.ts'
import { type BudgetStep, buildOsdBudget, planOsdBudgets } from './osd-budgets.ts'
import { decideRemoval, retireBudget, withoutRetirement } from './retire-budget.ts'
import type { CephDrainSnapshot } from './snapshot.ts'

/** The plan for the budgets of OSDs, as writes of objects; `present` are the objects that the snapshot was made of. */
export function planBudgetWrites(
  snapshot: Pick<CephDrainSnapshot, 'cluster' | 'budgets' | 'nowMs'>,
  present: readonly PodDisruptionBudget[],
  decision: Pick<CephDrainDecision, 'budgets'>,
): BudgetWrite[] {
  const writes = writesOf(planOsdBudgets(snapshot.budgets, decision.budgets), snapshot, present)
  return [...writes, ...marks(writes)]

  /** What is taken over as it is gets our mark, so that it is released with the rest. */
  function marks(planned: readonly BudgetWrite[]): BudgetWrite[] {
    const names = new Set(planned.map((write) => ('budget' in write ? write.budget : write.seen).metadata.name))
    return snapshot.budgets
      .filter(({ name, isOurs }) => isOurs && !names.has(name))
      .flatMap(({ name }): BudgetWrite[] => {
        const seen = present.find(({ metadata }) => metadata.name === name)
        const wanted = decision.budgets.find((budget) => budget.name === name)
        if (seen === undefined || wanted === undefined || isManagedByUs(seen)) return []
        // What somebody else made of it is left to them: we could not write it again.
        if (wanted.selector.covers === 'other') return []
        return [{ verb: 'replace', seen, budget: buildOsdBudget(snapshot.cluster, wanted) }]
      })
  }
}

/** These steps, as writes of objects. */
export function writesOf(
  steps: readonly BudgetStep[],
  snapshot: Pick<CephDrainSnapshot, 'cluster' | 'nowMs'>,
  present: readonly PodDisruptionBudget[],
): BudgetWrite[] {
  const seenByName = new Map(present.map((budget) => [budget.metadata.name, budget]))
  return steps.flatMap((step): BudgetWrite[] => {
    const seen = seenByName.get(step.action === 'apply' ? step.budget.name : step.name)
    if (step.action === 'delete') return removal(seen as PodDisruptionBudget)
    const budget = buildOsdBudget(snapshot.cluster, step.budget)
    return seen === undefined
      ? [{ verb: 'create', budget }]
      : [{ verb: 'replace', seen: withoutRetirement(seen), budget }]
  })
  function removal(seen: PodDisruptionBudget): BudgetWrite[] {
    switch (decideRemoval(seen, snapshot.nowMs)) {
      case 'retire':
        return [{ verb: 'replace', seen, budget: retireBudget(seen, snapshot.nowMs) }]
      case 'wait':
        return []
      case 'delete':
        return [{ verb: 'delete', seen }]
    }
  }
}
