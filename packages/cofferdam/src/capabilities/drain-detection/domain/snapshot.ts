import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { type Condition, conditionOf, controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isClosedToPods } from '../../../shared/closed-node.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { type EvictionAttempt, evictionAttemptedAnnotation, parseAttempt } from './attempt.ts'

/** What must be seen of a node to tell whether it is being drained. */
export interface DrainSnapshot {
  readonly node: DrainedNode
  readonly pods: readonly PodOnNode[]
  /** Uids of the pods that a request leaves on the node while it holds their budgets. Nobody else may count them as gone. */
  readonly leftByRequest: readonly string[]
  readonly now: string
  /** A drain of which nothing was seen for so long has ended; 5 minutes when absent. */
  readonly quietMs?: number
}

export interface DrainedNode {
  readonly name: string
  /** By a cordon, or by the taint of a tool that drains. */
  readonly isCordoned: boolean
  /** The last time a guard saw somebody ask for the eviction of one of its pods, granted or not. */
  readonly attempt?: EvictionAttempt
  readonly drainInProgress: Condition | undefined
  readonly drained: Condition | undefined
}

export interface PodOnNode {
  readonly uid: string
  readonly name: string
  readonly namespace: string
  readonly nodeName: string
  /** False for what every drain leaves where it is: DaemonSet and mirror pods, and finished pods that nobody is deleting. */
  readonly mustLeave: boolean
  /** Annotation `cofferdam.io/skip-drain: "true"`. A wish: it stays only where a request leaves it. */
  readonly wantsToStay: boolean
  /** It is being deleted, and may be so for long: a grace period, a finalizer, a kubelet that does not answer. */
  readonly isLeaving: boolean
  /** Its eviction was granted. Pods that were deleted by other means are not a sign of a drain. */
  readonly isEvicted: boolean
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

export function parsePodOnNode(pod: Pod): PodOnNode {
  const { name, namespace = '', uid = '', annotations = {}, deletionTimestamp } = pod.metadata
  const isLeaving = deletionTimestamp !== undefined
  const isFinished = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
  const stays = controllerOf(pod)?.kind === 'DaemonSet' || annotations['kubernetes.io/config.mirror'] !== undefined
  const target = conditionOf(pod, 'DisruptionTarget')
  return {
    uid,
    name,
    namespace,
    nodeName: pod.spec.nodeName ?? '',
    mustLeave: !stays && (!isFinished || isLeaving),
    wantsToStay: annotations['cofferdam.io/skip-drain'] === 'true',
    isLeaving,
    isEvicted: target?.status === 'True' && target.reason === 'EvictionByEvictionAPI',
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
