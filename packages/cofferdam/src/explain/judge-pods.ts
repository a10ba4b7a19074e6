import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { stayAnswers } from '../capabilities/drain-lock/view/explain-stay.ts'
import type { Blocker } from '../shared/blocker.ts'
import { compareText } from '../shared/last-writer.ts'
import { type BudgetJudgement, judgeBudget } from './judge-budget.ts'
import { elsewhereBlockers } from './judge-elsewhere.ts'
import { judgePod, type PodJudgement } from './judge-pod.ts'
import { unreadBlockers } from './judge-unread.ts'
import type { GuardSnapshot } from './snapshot.ts'

/** Whether each of the pods may be evicted now, by name; every budget is judged once. */
export function judgePods(asked: readonly Pod[], snapshot: GuardSnapshot): PodJudgement[] {
  const { budgets, pods, storage, longhorn, holds, rehearsal } = snapshot
  const stayOf = stayAnswers(rehearsal)
  const judgements = new Map<PodDisruptionBudget, BudgetJudgement>()
  const judge = (budget: PodDisruptionBudget) => {
    const judged =
      judgements.get(budget) ??
      judgeBudget({ budget, pods, storage, ...(longhorn && { longhorn }), ...(holds && { holds }) })
    judgements.set(budget, judged)
    return judged
  }
  const elsewhereOf = elsewhereBlockers(snapshot)
  const unreadOf = unreadBlockers(snapshot)
  return asked
    .toSorted((a, b) => compareText(a.metadata.name, b.metadata.name))
    .map((pod) => {
      const judged = judgePod(pod, { budgets, storage, judge, elsewhereOf, stayOf })
      const unread = judged.answer.verdict === 'goes' ? unreadOf(pod) : undefined
      return unread === undefined ? judged : heldBy(unread, judged)
    })
}

/** What says that it goes counts for nothing while something that may hold it could not be read. */
function heldBy(blocker: Blocker, { answer }: PodJudgement): PodJudgement {
  const { reason, explanation } = blocker
  return {
    answer: { ...answer, verdict: 'waits', reason, explanation },
    blockers: [blocker],
    staysAfter: [],
    takesFrom: undefined,
  }
}
