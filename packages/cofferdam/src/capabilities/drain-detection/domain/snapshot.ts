import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { type Condition, conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isClosedToPods } from '../../../shared/closed-node.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { PodOnNode } from '../../../shared/pod-on-node.ts'
import { type EvictionAttempt, evictionAttemptedAnnotation, parseAttempt } from './attempt.ts'

/** What is on a node. */
export interface OnNode {
  readonly pods: readonly PodOnNode[]
  /** Uids of the pods that a request leaves on the node while it holds their budgets. Nobody else may count them as gone. */
  readonly leftByRequest: readonly string[]
}

/** What must be seen of a node to decide whether it is being drained. */
export interface DrainSnapshot extends OnNode {
  readonly node: DrainedNode
  /** What is on the node was listed at the API server in this pass. Otherwise it is what the watches last delivered, which may be behind. */
  readonly isFresh?: boolean
  readonly now: string
  /** A drain of which nothing was seen for so long has ended; 5 minutes when absent. */
  readonly quietMs?: number
}

/** A Node that was deleted a moment ago. */
export interface GoneNode {
  readonly gone: string
  /** As the watches last delivered them: they are removed soon, since their node is gone. */
  readonly pods: readonly PodOnNode[]
}

export interface DrainedNode {
  readonly name: string
  /** By a cordon, or by the taint of a tool that drains. */
  readonly isCordoned: boolean
  /** The last time a guard saw somebody ask for the eviction of one of its pods, granted or not. */
  readonly attempt?: EvictionAttempt | undefined
  readonly drainInProgress: Condition | undefined
  readonly drained: Condition | undefined
}

export function parseDrainedNode(node: Node): DrainedNode {
  const attempt = parseAttempt(node.metadata.annotations?.[evictionAttemptedAnnotation])
  return {
    name: node.metadata.name,
    isCordoned: isClosedToPods(node),
    ...(attempt === undefined ? {} : { attempt }),
    drainInProgress: conditionOf(node, 'DrainInProgress'),
    drained: conditionOf(node, 'Drained'),
  }
}

/**
 * Uids of the pods that these requests leave on their nodes. Only a request that is Drained leaves any: before, their budgets may not
 * be held yet, and afterwards they are not held any more.
 */
export function podsLeftBy(disruptions: readonly NodeDisruption[]): readonly string[] {
  return disruptions
    .filter(({ metadata, status }) => status?.phase === 'Drained' && metadata.deletionTimestamp === undefined)
    .flatMap(({ status }) => (status?.skippedPods ?? []).map(({ uid }) => uid))
}
