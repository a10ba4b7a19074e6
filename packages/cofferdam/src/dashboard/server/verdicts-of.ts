import type { BudgetVerdict } from '../../explain/budget-verdict.ts'
import type { BudgetView, ClusterView } from './cluster-view.ts'

/** What each budget says to the next eviction; while that has not been judged yet, what is counted. */
export function verdictsOf({ verdicts = [] }: Pick<ClusterView, 'verdicts'>): (budget: BudgetView) => BudgetVerdict {
  const judged = new Map(verdicts.map((verdict) => [verdict.id, verdict]))
  return (budget) => {
    const { allowed, isCounted } = budget
    const counted: BudgetVerdict =
      allowed > 0 ? { tone: 'calm', says: `${allowed} may go now` } : { tone: 'busy', says: 'No pod may go now' }
    const verdict = judged.get(budget.id)
    if (!isCounted) return { tone: 'busy', says: 'Not counted yet' }
    return verdict ?? counted
  }
}
