import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { budgetKey } from '../../../ledger/rules/keys.ts'
import { areFollowing, explainFollowing } from '../../../shared/follows-osds.ts'
import { quorumAtRisk } from '../../../shared/quorum-budget.ts'
import { appLockBlockers, budgetBlocker, budgetsOver, obstacleBlocker } from './claims.ts'
import type { DisruptionBlocker } from './decision.ts'
import type { HeldView } from './disruption-view.ts'
import { type PodPlan, podName } from './plan-pods.ts'
import type { BudgetFacts, PodFacts } from './snapshot.ts'

/** What is seen to keep a pod from leaving, each with the pods that it keeps; whoever evicts them may learn of more. */
export function drainBlockers(
  view: HeldView,
  { leaves, going }: Pick<PodPlan, 'leaves' | 'going'>,
): DisruptionBlocker[] {
  const blockers = new Map<string, DisruptionBlocker>()
  for (const pod of leaves) {
    for (const blocker of blockersOf(view, pod)) {
      const pods = [...(blockers.get(blocker.object)?.pods ?? []), `${pod.namespace}/${pod.name}`]
      blockers.set(blocker.object, { ...blocker, pods })
    }
  }
  return [...blockers.values(), ...going.map((pod) => leavingBlocker(view, pod))]
}

export function leavingBlocker({ request, held, nowMs }: HeldView, pod: PodFacts): DisruptionBlocker {
  const { sinceMs, endsMs, finalizers = [] } = pod.leaving ?? {}
  const names = finalizers.join(', ')
  const isLate = endsMs !== undefined && endsMs <= nowMs
  const ends = endsMs === undefined ? 'with its grace period' : `at ${rfc3339(endsMs)}`
  return {
    object: podName(pod),
    holder: names === '' ? `kubelet of ${request.nodeName}` : `finalizer ${names}`,
    since: sinceMs === undefined ? held.since : rfc3339(sinceMs),
    reason: 'PodIsLeaving',
    wayOut:
      names !== ''
        ? `It is gone when its containers have ended and ${names} is removed by the controller that set it.`
        : isLate
          ? `Its time to end was over ${ends}; it is gone when the kubelet reports that its containers have ended.`
          : `It is gone when its containers have ended; they are killed ${ends}.`,
    pods: [`${pod.namespace}/${pod.name}`],
  }
}

export function blockersOf(view: HeldView, pod: PodFacts): DisruptionBlocker[] {
  const kept = storageKeeps(view, pod)
  if (kept.length > 0) return kept
  const budgets = budgetsOver(view, pod)
  if (budgets.length > 1) {
    const names = budgets.map(({ name }) => name).join(', ')
    const wayOut = `Change the selectors of ${names}, so that one budget covers it.`
    const since = view.held.since
    return [{ object: podName(pod), holder: names, since, reason: 'BudgetOverlap', wayOut }]
  }
  const [budget] = budgets
  if (budget === undefined) return []
  const [appLock] = appLockBlockers(view, [budget])
  if (appLock !== undefined) return [appLock]
  const key = budgetKey(budget)
  const other = view.ledger.entries.find((entry) => entry.key === key && entry.requestId !== view.request.id)
  if (other !== undefined) return [obstacleBlocker(view, other)]
  if (!budget.isCounted) return [budgetBlocker(view, budget, 'BudgetNotCounted')]
  if (budget.disruptionsAllowed > 0) return []
  const holds = storageHolds(view, key)
  if (holds.length > 0) return holds
  const ofCeph = followingBlocker(view, budget) ?? quorumBlocker(view, budget)
  return [ofCeph ?? budgetBlocker(view, budget, 'BudgetExhausted')]
}

/** In the words of the explanation and the guard: healthy monitors can be out of quorum, and more of them would not end it. */
function quorumBlocker({ held }: HeldView, budget: BudgetFacts): DisruptionBlocker | undefined {
  if (budget.isQuorum !== true) return undefined
  const { reason, explanation, holder, unblocks } = quorumAtRisk
  const wayOut = `It waits since ${explanation}. What ends it: ${unblocks}.`
  return { object: budgetKey(budget), holder, since: held.since, reason, wayOut }
}

/** A mon or mgr beside OSDs goes after them: that no more of them are healthy than must be is not why it waits. */
function followingBlocker({ held }: HeldView, budget: BudgetFacts): DisruptionBlocker | undefined {
  const { followers, currentHealthy, expectedPods } = budget
  if (followers === undefined || !areFollowing(followers, currentHealthy >= expectedPods)) return undefined
  const { explanation, holder, unblocks } = explainFollowing(followers, '')
  const wayOut = `It waits since ${explanation}. What ends it: ${unblocks}.`
  return { object: budgetKey(budget), holder, since: held.since, reason: 'FollowsOsds', wayOut }
}

/** Storage keeps a pod that no budget holds: the eviction would be let through, so it is not asked for. */
export function storageKeeps({ snapshot, held }: HeldView, { namespace, name }: PodFacts): DisruptionBlocker[] {
  return snapshot.storage.flatMap(({ key, holds = [] }) =>
    holds
      .filter(({ pods = [] }) => pods.includes(`${namespace}/${name}`))
      .map(({ object, reason, wayOut }) => ({ object, holder: key, since: held.since, reason, wayOut })),
  )
}

/** Storage keeps the budgets of its own pods for a reason, and the number of disruptions they allow is not it. */
function storageHolds({ snapshot, held }: HeldView, key: string): DisruptionBlocker[] {
  return snapshot.storage
    .flatMap(({ holds = [] }) => holds)
    .filter(({ budgets }) => budgets.includes(key))
    .map(({ object, reason, wayOut }) => ({
      object,
      holder: key,
      since: held.since,
      reason,
      wayOut,
    }))
}
