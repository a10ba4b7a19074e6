import type { Reason } from '../../../shared/reasons.ts'
import type { CephDrainDecision } from './decision.ts'

/** Why a budget of OSDs allows no disruption. */
export interface BudgetReason {
  /** Name of the budget. */
  readonly budget: string
  readonly reason: Reason
  readonly explanation: string
}

/** A cluster of very many failure domains is explained on its CephCluster; each of these would be an event. */
const mostBudgets = 50

/** What each budget that allows nothing waits for: its own failure domain where it has one, else the whole cluster. */
export function budgetReasons({ budgets, domains, reason, explanation }: CephDrainDecision): readonly BudgetReason[] {
  const closed = budgets.filter(({ maxUnavailable }) => maxUnavailable === 0)
  if (closed.length > mostBudgets) return []
  return closed.map(({ name, selector }) => {
    const answer = selector.covers === 'domain' ? domains.find(({ domain }) => domain === selector.domain) : undefined
    if (answer === undefined || answer.mayDrain) return { budget: name, reason, explanation }
    return { budget: name, reason: answer.reason, explanation: answer.explanation }
  })
}
