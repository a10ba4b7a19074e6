import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { covers, isOutsideBudgets, mayEvictUnready } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { explainHolds } from '../capabilities/drain-lock/view/hold-view.ts'
import type { Blocker } from '../shared/blocker.ts'
import { mergeBlockers } from '../shared/merge-blockers.ts'
import { explainPodHealth } from '../shared/pod-health.ts'
import type { Reason } from '../shared/reasons.ts'
import type { BudgetExplanation } from './explanation.ts'
import { type BudgetJudgement, type BudgetSnapshot, blockersOf, judgeBudget } from './judge-budget.ts'
import { unreadBlockers } from './judge-unread.ts'

/** What could not be read and may hold what the budget itself would let go. */
function unreadOver(snapshot: BudgetSnapshot, covered: readonly Pod[], { blocker }: BudgetJudgement): Blocker[] {
  if (blocker !== undefined) return []
  const unreadOf = unreadBlockers({ ...snapshot, budgets: [snapshot.budget] })
  return mergeBlockers(covered.map((pod) => unreadOf(pod)))
}

/** Does this budget allow a disruption now, and if not, what lies behind it? */
export function explainBudget(snapshot: BudgetSnapshot): BudgetExplanation {
  const { budget } = snapshot
  const object = `pdb/${keyText(keyOf(budget))}`
  const covered = snapshot.pods.filter((pod) => covers(budget, pod))
  const pods = covered.map(explainPodHealth)
  const judged = judgeBudget(snapshot)
  const { answer, isHeld } = judged
  const blockers = [...blockersOf(judged), ...unreadOver(snapshot, covered, judged)]
  const holds = snapshot.holds === undefined ? [] : explainHolds(snapshot.holds, (key) => key === object)
  if (pods.length === 0) {
    const reason: Reason = 'NoPods'
    const explanation = 'it covers no pod, so nothing waits for it'
    const summary = 'It covers no pod: nothing waits for it.'
    return { object, mayGo: true, summary, blockers: [], holds, budget: { ...answer, reason, explanation }, pods }
  }
  return {
    object,
    mayGo: blockers.length === 0,
    summary:
      blockers.length === 0
        ? `It allows ${answer.allowed} of ${pods.length} pods to be evicted now.`
        : 'It allows no eviction now.',
    blockers: blockers.map((each) => ({
      ...each,
      waiting: covered.filter(mustAsk).map((pod) => `pod/${keyText(keyOf(pod))}`),
    })),
    holds,
    budget: answer,
    pods,
  }

  /** The eviction API asks the budget about some of its pods only. */
  function mustAsk(pod: Pod): boolean {
    const isReady = conditionOf(pod, 'Ready')?.status === 'True'
    return !isOutsideBudgets(pod) && (isHeld || isReady || !mayEvictUnready(budget))
  }
}
