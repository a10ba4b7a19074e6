import type { Condition } from '../../api/kube-object.ts'
import { type Reason, reasons } from '../reasons.ts'
import type { DrainSnapshot } from './snapshot.ts'

export interface DrainDecision {
  readonly reason: Reason
  /** What the node's conditions should say; empty when they say it already. */
  readonly conditions: readonly Condition[]
}

/**
 * Tells whether a node is being drained, from what its pods show.
 *
 * A cordon alone is no drain: administrators cordon nodes for many reasons. A drain that was seen once goes on until the
 * node is uncordoned or nothing is left, so that one which waits for a budget does not look as if it were over.
 */
export function decideDrainConditions({ node, pods, now }: DrainSnapshot): DrainDecision {
  const remaining = pods.filter((pod) => pod.mustLeave)
  const wasInProgress = node.drainInProgress?.status === 'True'
  if (!node.isCordoned) return { reason: 'NotCordoned', conditions: afterUncordon() }
  if (remaining.length === 0) {
    return {
      reason: 'DrainCompleted',
      conditions: changes({ inProgress: ['False', 'DrainCompleted'], drained: ['True', 'DrainCompleted'] }),
    }
  }
  if (wasInProgress || remaining.some((pod) => pod.isEvicted)) {
    return {
      reason: 'PodsLeaving',
      conditions: changes({ inProgress: ['True', 'PodsLeaving'], drained: ['False', 'PodsRemain'] }),
    }
  }
  return {
    reason: 'CordonedOnly',
    conditions: changes({ inProgress: ['False', 'CordonedOnly'], drained: ['False', 'PodsRemain'] }),
  }

  /** A node that was never drained carries no conditions of ours, and gets none. */
  function afterUncordon(): Condition[] {
    if (node.drainInProgress === undefined && node.drained === undefined) return []
    return changes({ inProgress: ['False', 'NotCordoned'], drained: ['False', 'NotCordoned'] })
  }

  function changes(wanted: { inProgress: [Condition['status'], Reason]; drained: [Condition['status'], Reason] }) {
    return [
      ...change('DrainInProgress', node.drainInProgress, ...wanted.inProgress),
      ...change('Drained', node.drained, ...wanted.drained),
    ]
  }

  function change(
    type: string,
    actual: Condition | undefined,
    status: Condition['status'],
    reason: Reason,
  ): Condition[] {
    if (actual?.status === status && actual.reason === reason) return []
    const lastTransitionTime = actual?.status === status ? (actual.lastTransitionTime ?? now) : now
    return [{ type, status, reason, message: reasons[reason], lastTransitionTime }]
  }
}
