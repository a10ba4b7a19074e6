import type { Event, Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isClosedToPods } from '../../shared/closed-node.ts'

/**
 * Whether a warning says only what is known: a pod finds no node because nodes are cordoned or away, or it has found one since, or it is gone.
 * A pod that nothing but its own wishes keeps off the nodes is still warned of.
 */
export function isExpectedWarning(
  { reason, message = '', involvedObject }: Event,
  { nodes, pods }: { readonly nodes: readonly Node[]; readonly pods: readonly Pod[] },
): boolean {
  if (reason !== 'FailedScheduling') return false
  const { namespace, name } = involvedObject
  const pod = pods.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace)
  if (pod === undefined || pod.spec.nodeName !== undefined) return true
  const isAway = nodes.some((node) => isClosedToPods(node) || conditionOf(node, 'Ready')?.status !== 'True')
  return isAway && /schedulable|not-ready|unreachable/i.test(message)
}
