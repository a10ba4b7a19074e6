import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { Blocker } from '../../../shared/blocker.ts'
import { areFollowing, explainFollowing, followersOf } from '../../../shared/follows-osds.ts'
import { explainPodHealth } from '../../../shared/pod-health.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { StorageView } from '../../../shared/storage-view.ts'

/** Whether the budget keeps healthy mons, mgrs or daemons that cannot move until the OSDs on their nodes may go. Rook's never does. */
export function isFollowingOsds(budget: PodDisruptionBudget, covered: readonly Pod[]): boolean {
  const followers = followersOf(budget)
  if (followers === undefined) return false
  return areFollowing(
    followers,
    covered.map(explainPodHealth).every(({ isHealthy }) => isHealthy),
  )
}

export function followsOsdsRefusal(
  budget: PodDisruptionBudget,
  storage: readonly StorageView[],
): Omit<Blocker, 'object' | 'waiting'> {
  const namespace = budget.metadata.namespace ?? ''
  const view = storage.find((each) => each.namespace === namespace)
  const open = view === undefined ? '' : [view.failureDomainType, view.openDomains.join(', ')].join(' ').trim()
  const hasOpen = (view?.openDomains ?? []).length > 0
  const { explanation, holder, unblocks } = explainFollowing(followersOf(budget) ?? 'mons', hasOpen ? open : '')
  const since = conditionOf(budget, 'DisruptionAllowed')?.lastTransitionTime
  const reason: Reason = 'FollowsOsds'
  return {
    reason,
    explanation,
    holder,
    ...(since === undefined ? {} : { since }),
    causes: [],
    unblocks,
    override: `kubectl -n ${namespace} delete pod NAME bypasses the budget; then drain that node, and no other, to its end`,
  }
}

/** Whether the mon or mgr goes by itself in the middle of a drain of its node; undefined when that has to wait. */
export function whenDaemonFollows(pod: string, nodeName: string, storage: readonly StorageView[]): string | undefined {
  const answers = storage
    .filter(({ namespace }) => pod.startsWith(`${namespace}/`))
    .flatMap(({ domains }) => domains.filter(({ nodes }) => nodes.includes(nodeName)))
  if (answers.some(({ mayDrain }) => !mayDrain)) return undefined
  return answers.length > 0 ? 'when the OSDs of the node have gone' : 'as soon as the node is cordoned'
}
