import { covers } from '../../api/disruption-rules.ts'
import { keyOf, keyText } from '../../api/resource-type.ts'
import type { Reason } from '../reasons.ts'
import type { BudgetExplanation } from './explanation.ts'
import { type BudgetSnapshot, judgeBudget } from './judge-budget.ts'
import { explainPodHealth } from './pod-health.ts'

/** Can this budget spare a pod now, and if not, what lies behind it? */
export function explainBudget(snapshot: BudgetSnapshot): BudgetExplanation {
  const { budget } = snapshot
  const object = `pdb/${keyText(keyOf(budget))}`
  const pods = snapshot.pods.filter((pod) => covers(budget, pod)).map(explainPodHealth)
  const { answer, blocker } = judgeBudget(snapshot)
  if (pods.length === 0) {
    const reason: Reason = 'NoPods'
    const explanation = 'it covers no pod, so nothing waits for it'
    const summary = 'It covers no pod: nothing waits for it.'
    return { object, mayGo: true, summary, blockers: [], budget: { ...answer, reason, explanation }, pods }
  }
  return {
    object,
    mayGo: blocker === undefined,
    summary: blocker === undefined ? `It can spare ${answer.allowed} of ${pods.length} pods.` : 'It can spare no pod.',
    blockers: blocker === undefined ? [] : [{ ...blocker, waiting: pods.map(({ pod }) => `pod/${pod}`) }],
    budget: answer,
    pods,
  }
}
