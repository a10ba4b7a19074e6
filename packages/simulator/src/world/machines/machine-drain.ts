import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf, controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { evictPod, type KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'

const mirrorAnnotation = 'kubernetes.io/config.mirror'
/** On a node that does not answer, a pod that was to be gone for so long is not waited for. */
const skipAfterMs = 1_000

/**
 * One attempt of a machine controller to drain a node: it cordons, asks for every pod at once, and does not wait. Whether nothing
 * is left. Budgets and webhooks may refuse, for whatever reason; the next attempt asks again.
 */
export async function drainOnce(
  api: KubeApi,
  nodeName: string,
  nowMs: number,
  isToGo: (pod: Pod) => boolean = () => true,
): Promise<boolean> {
  const node = await api.get(nodes, { name: nodeName }).catch((error: unknown) => {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  })
  if (node === undefined) return true
  const isUnreachable = conditionOf(node, 'Ready')?.status === 'Unknown'
  if (node.spec?.unschedulable !== true) {
    await api.patch(nodes, { name: nodeName }, { type: 'merge', body: { spec: { unschedulable: true } } })
  }
  const { items } = await api.list(pods, { fieldSelector: `spec.nodeName=${nodeName}` })
  const toGo = items.filter((pod) => isToGo(pod) && isDrained(pod) && !(isUnreachable && isLongDeleted(pod, nowMs)))
  for (const pod of toGo) if (pod.metadata.deletionTimestamp === undefined) await evict(api, pod, isUnreachable)
  return toGo.length === 0
}

function isDrained(pod: Pod): boolean {
  return controllerOf(pod)?.kind !== 'DaemonSet' && pod.metadata.annotations?.[mirrorAnnotation] === undefined
}

function isLongDeleted({ metadata }: Pod, nowMs: number): boolean {
  const deletedMs = parseRfc3339(metadata.deletionTimestamp ?? '')
  return deletedMs !== undefined && nowMs - deletedMs > skipAfterMs
}

async function evict(api: KubeApi, { metadata }: Pod, isUnreachable: boolean): Promise<void> {
  const key = { namespace: metadata.namespace ?? '', name: metadata.name }
  try {
    await evictPod(api, key, isUnreachable ? { gracePeriodSeconds: 1 } : {})
  } catch (error) {
    if (!hasReason(error, 'NotFound', 'TooManyRequests', 'Forbidden', 'InternalError', 'Conflict')) throw error
  }
}
