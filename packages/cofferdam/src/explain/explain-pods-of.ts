import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { explainHolds } from '../capabilities/drain-lock/view/hold-view.ts'
import { mergeBlockers } from '../shared/merge-blockers.ts'
import type { Reason } from '../shared/reasons.ts'
import type { Explanation, PodAnswer } from './explanation.ts'
import { judgePods } from './judge-pods.ts'
import type { GuardSnapshot } from './snapshot.ts'

export interface PodsExplanation extends Explanation {
  /** Each judged as a pod. */
  readonly pods: readonly PodAnswer[]
}

/**
 * May a pod of this workload be evicted now, and if not, what stands in the way? As with a budget, one that may go is enough: the rest
 * follow when it is back.
 */
export function explainPodsOf(
  guards: GuardSnapshot,
  { object, ownPods, noPods }: { readonly object: string; readonly ownPods: readonly Pod[]; readonly noPods: string },
): PodsExplanation {
  const judged = judgePods(ownPods, guards)
  const pods = judged.map(({ answer }) => answer)
  const waiting = pods.filter(({ verdict }) => verdict === 'waits').length
  const mayGo = waiting === 0 || pods.some(isServingAndFree)
  const keys = new Set(pods.flatMap(({ budgets }) => budgets.map((name) => `pdb/${name}`)))
  return {
    object,
    mayGo,
    summary: summaryOf(pods, waiting, noPods),
    blockers: mayGo ? [] : mergeBlockers(judged.flatMap(({ blockers }) => blockers)),
    holds: guards.holds === undefined ? [] : explainHolds(guards.holds, (key) => keys.has(key)),
    pods,
  }
}

/** What does not run yet takes nothing with it: that it may go says nothing about the workload. */
function isServingAndFree({ verdict, reason }: PodAnswer): boolean {
  return verdict === 'goes' && reason !== ('PodNotCounted' satisfies Reason)
}

function summaryOf(pods: readonly PodAnswer[], waiting: number, noPods: string): string {
  const count = (verdict: PodAnswer['verdict']) => pods.filter((each) => each.verdict === verdict).length
  const leaving = count('leaving')
  const goes = waiting === 0 ? count('goes') : pods.filter(isServingAndFree).length
  if (pods.length === 0) return noPods
  const all = pods.length === 1 ? 'Its only pod' : `All ${pods.length} pods`
  if (goes === pods.length) return `${all} may be evicted now.`
  if (goes > 0) return `${goes} of ${pods.length} pods may be evicted now.`
  if (waiting > 0)
    return pods.length === 1 ? 'Its pod may not be evicted now.' : 'None of its running pods may be evicted now.'
  if (leaving > 0)
    return leaving === pods.length
      ? pods.length === 1
        ? 'Its pod is already terminating.'
        : 'All its pods are already terminating.'
      : `${leaving} of ${pods.length} pods are terminating.`
  return 'A drain does not evict its pods.'
}
