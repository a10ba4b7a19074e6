import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf, controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'

/** A pod, as a drain of its node sees it. */
export interface PodOnNode {
  readonly uid: string
  readonly name: string
  readonly namespace: string
  readonly nodeName: string
  /** False for what every drain leaves where it is: DaemonSet and mirror pods, and finished pods that nobody is deleting. */
  readonly mustLeave: boolean
  /** Annotation `cofferdam.io/skip-drain: "true"`. A wish: it stays only where a request leaves it. */
  readonly wantsToStay: boolean
  /** The pod is being deleted, and may be so for long: a grace period, a finalizer, a kubelet that does not answer. */
  readonly isLeaving: boolean
  /** Its eviction was granted. Pods that were deleted by other means are not a sign of a drain. */
  readonly isEvicted: boolean
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
