import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { Blocker } from '../../../shared/blocker.ts'
import { explainPodHealth } from '../../../shared/pod-health.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { StorageView } from '../../../shared/storage-view.ts'
import { isManagedByUs } from '../domain/budget-mark.ts'
import { isServiceBudgetName } from '../domain/service-budgets.ts'

const daemonBudgets: Readonly<Record<string, string>> = {
  'rook-ceph-mon-pdb': 'rook-ceph-mon',
  'rook-ceph-mgr-pdb': 'rook-ceph-mgr',
}

/** Whether the budget keeps healthy mons, mgrs or daemons that cannot move until the OSDs on their nodes may go. Rook's never does. */
export function isFollowingOsds({ metadata, spec }: PodDisruptionBudget, covered: readonly Pod[]): boolean {
  if (spec.maxUnavailable !== 0 || !isManagedByUs({ metadata })) return false
  // A service by number says how many must stay; only one that goes after the OSDs says that none may go.
  if (isServiceBudgetName(metadata.name)) return true
  const app = daemonBudgets[metadata.name]
  if (app === undefined || spec.selector?.matchLabels?.['app'] !== app) return false
  return app === 'rook-ceph-mgr' || covered.map(explainPodHealth).every(({ isHealthy }) => isHealthy)
}

export function followsOsdsRefusal(
  budget: PodDisruptionBudget,
  storage: readonly StorageView[],
): Omit<Blocker, 'object' | 'waiting'> {
  const namespace = budget.metadata.namespace ?? ''
  const view = storage.find((each) => each.namespace === namespace)
  const open = view === undefined ? '' : [view.failureDomainType, view.openDomains.join(', ')].join(' ').trim()
  const hasOpen = (view?.openDomains ?? []).length > 0
  const since = conditionOf(budget, 'DisruptionAllowed')?.lastTransitionTime
  const reason: Reason = 'FollowsOsds'
  const who = isServiceBudgetName(budget.metadata.name) ? 'daemons that cannot move' : 'mons and mgrs'
  return {
    reason,
    explanation: hasOpen
      ? `${who} beside OSDs go after them, and only ${open} is open now`
      : `${who} beside OSDs go after the OSDs of their node, so that two drains cannot wait for each other`,
    holder: hasOpen ? open : 'the OSDs on the same nodes',
    ...(since === undefined ? {} : { since }),
    causes: [],
    unblocks: hasOpen
      ? `on a drained node of ${open}, that its OSDs have left; elsewhere ${open} back with all its OSDs, and the placement groups clean; a drain of the node then continues by itself`
      : 'the eviction of an OSD of the node; a drain of the whole node gets there by itself',
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
