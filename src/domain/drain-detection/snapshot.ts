import type { Node, Pod } from '../../api/core.ts'
import { type Condition, conditionOf, controllerOf } from '../../api/kube-object.ts'

/** What must be seen of a node to tell whether it is being drained. */
export interface DrainSnapshot {
  readonly node: DrainedNode
  readonly pods: readonly PodOnNode[]
  readonly now: string
}

export interface DrainedNode {
  readonly name: string
  readonly isCordoned: boolean
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
  return {
    name: node.metadata.name,
    isCordoned: node.spec?.unschedulable === true,
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
