import type { Node, Pod } from '../../api/core.ts'
import { type Condition, conditionOf, controllerOf } from '../../api/kube-object.ts'
import { type EvictionAttempt, evictionAttemptedAnnotation, parseAttempt } from './attempt.ts'
import { isClosedToPods } from './closed-node.ts'

/** What must be seen of a node to tell whether it is being drained. */
export interface DrainSnapshot {
  readonly node: DrainedNode
  readonly pods: readonly PodOnNode[]
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
  readonly name: string
  readonly namespace: string
  readonly nodeName: string
  /** False for what every drain leaves where it is: DaemonSet and mirror pods, finished pods, pods that skip the drain. */
  readonly mustLeave: boolean
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
  const { name, namespace = '', annotations = {} } = pod.metadata
  const isFinished = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
  const stays =
    controllerOf(pod)?.kind === 'DaemonSet' ||
    annotations['kubernetes.io/config.mirror'] !== undefined ||
    annotations['cofferdam.io/skip-drain'] === 'true'
  const target = conditionOf(pod, 'DisruptionTarget')
  return {
    name,
    namespace,
    nodeName: pod.spec.nodeName ?? '',
    mustLeave: !stays && !isFinished,
    isEvicted: target?.status === 'True' && target.reason === 'EvictionByEvictionAPI',
  }
}
