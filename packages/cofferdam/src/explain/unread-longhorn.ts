import { isSelected, type Labels } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { isInstanceManager, isOverInstanceManager } from '../capabilities/longhorn-drain/domain/budget-object.ts'
import { isLonghornManager } from '../capabilities/longhorn-drain/domain/longhorn-manager.ts'
import { unreadStorage } from './judge-unread.ts'
import type { LonghornPlaces } from './snapshot.ts'

export interface LabelledPod {
  readonly namespace: string
  readonly labels: Labels
}

/** By what everybody may read: the server forbids the kinds that it does not have, too, so a refusal shows nothing. */
export function isLonghornSeen(budgets: readonly PodDisruptionBudget[], pods: Iterable<LabelledPod>): boolean {
  if (budgets.some(isOverInstanceManager)) return true
  for (const { labels } of pods) if (isInstanceManager(labels) || isLonghornManager(labels)) return true
  return false
}

/**
 * What of Longhorn could not be read and may hold a node: the one rule of plans and explanations. It may hold nodes that Longhorn lists, and
 * those with its instance managers.
 *
 * Fails closed: where Longhorn is somewhere and its own list of nodes may not be read, copies can be on any node, its pods there or not.
 */
export function unreadLonghorn({
  unread,
  places,
  budgets,
}: {
  readonly unread: readonly string[]
  readonly places: LonghornPlaces
  readonly budgets: readonly PodDisruptionBudget[]
}): (node: string, here: readonly LabelledPod[]) => string | undefined {
  const { longhorn } = unreadStorage(unread)
  if (longhorn === undefined) return () => undefined
  const { nodes, isInstalled } = places
  const about = budgets.filter(isOverInstanceManager)
  const isManager = ({ namespace, labels }: LabelledPod) =>
    isInstanceManager(labels) ||
    about.some(
      ({ metadata, spec: { selector } }) =>
        metadata.namespace === namespace && selector !== undefined && isSelected(selector, labels),
    )
  return (node, here) => {
    const mayHaveCopies = nodes.known ? nodes.value.has(node) : isInstalled
    return mayHaveCopies || here.some(isManager) ? longhorn : undefined
  }
}
