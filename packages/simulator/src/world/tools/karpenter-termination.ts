import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node, Pod, Taint } from '@cofferdam/kubernetes/api/core.ts'
import { parseDuration } from '@cofferdam/kubernetes/api/duration.ts'
import { type NodeClaim, nodeClaims, terminationTimeAnnotation } from '@cofferdam/kubernetes/api/kinds/karpenter.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type ActorTools, deleteExactly } from '../actor.ts'
import { cutPower, type PowerSwitch } from '../machines/power-cycle.ts'
import { tolerates } from '../nodes/scheduling-rules.ts'
import { isFinished, isTerminating } from '../pod-facts.ts'
import { indexByNode } from '../workloads/owned-pods.ts'
import { isDaemonPod, isMirrorPod } from './scale-down-candidates.ts'

export const disruptedTaint: Taint = { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }
export const terminationFinalizer = 'karpenter.sh/termination'

const volumeAttachments: ResourceType<KubeObject & { readonly spec?: { readonly nodeName?: string } }> = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'volumeattachments',
  kind: 'VolumeAttachment',
  namespaced: false,
}

const recheckMs = 1_000
const longestRetryMs = 10_000

/**
 * What follows the deletion of a NodeClaim: its Node is deleted and held by a finalizer while pods are evicted, those of DaemonSets
 * last, and volumes are detached; then the machine goes, then Node and claim. A claim with a `terminationGracePeriod` has an end: a pod
 * whose own grace period would pass it is deleted instead of evicted, and volumes are not waited for any longer.
 */
export function startTermination(
  tools: ActorTools,
  kubelet: PowerSwitch,
): { readonly deleted: () => readonly string[]; readonly removed: () => readonly string[] } {
  const claimView = tools.views.of(nodeClaims)
  const nodeView = tools.views.of(nodes)
  const podsOn = indexByNode(tools.views.of(pods))
  const queue = tools.queue({ needs: [claimView, nodeView, tools.views.of(pods)], work: reconcile })
  const retries = new Map<string, { readonly atMs: number; readonly waitMs: number }>()
  const deleted: string[] = []
  const removed: string[] = []

  async function reconcile(name: string): Promise<void> {
    const claim = claimView.get(name)
    if (claim === undefined || !isTerminating(claim)) return
    const stamped = await stamp(claim)
    const node = nodeView.get(claim.status?.nodeName ?? '')
    if (node === undefined) {
      await release(nodeClaims, stamped)
      return
    }
    if (!isTerminating(node)) await deleteExactly(tools, nodes, node)
    else if (await isEmptied(node, endOf(stamped))) {
      cutPower(kubelet, node.metadata.name)
      await release(nodes, node)
      removed.push(node.metadata.name)
    }
    queue.addAfter(name, recheckMs)
  }

  /** By when everything has to be gone is written down when the deletion is first seen. */
  async function stamp(claim: NodeClaim): Promise<NodeClaim> {
    const graceMs = parseDuration(claim.spec?.terminationGracePeriod ?? '')
    if (graceMs === undefined || claim.metadata.annotations?.[terminationTimeAnnotation] !== undefined) return claim
    const at = rfc3339(Date.parse(claim.metadata.deletionTimestamp ?? '') + graceMs)
    const body = { metadata: { annotations: { [terminationTimeAnnotation]: at } } }
    const stamped = await tools.api.patch(nodeClaims, { name: claim.metadata.name }, { type: 'merge', body })
    claimView.record(stamped)
    return stamped
  }

  async function isEmptied(node: Node, endsMs: number): Promise<boolean> {
    const { name } = node.metadata
    await taintNode(tools, node)
    const waiting = [...podsOn(name)].filter(isWaitedFor)
    const due = waiting.filter((pod) => isForced(pod, endsMs))
    for (const pod of due) await forceDelete(pod, endsMs)
    const graceful = waiting.filter((pod) => !due.includes(pod))
    const first = graceful.filter((pod) => !isDaemonPod(pod))
    for (const pod of first.length > 0 ? first : graceful) await evict(pod)
    if (waiting.length > 0) return false
    if (tools.clock.now() > endsMs) return true
    const { items } = await tools.api.list(volumeAttachments)
    return !items.some(({ spec }) => spec?.nodeName === name)
  }

  function isForced({ metadata, spec }: Pod, endsMs: number): boolean {
    if (metadata.deletionTimestamp !== undefined) return Date.parse(metadata.deletionTimestamp) > endsMs
    return tools.clock.now() > endsMs - (spec.terminationGracePeriodSeconds ?? 30) * 1_000
  }

  /** No budget is asked. */
  async function forceDelete(pod: Pod, endsMs: number): Promise<void> {
    const gracePeriodSeconds = Math.max(Math.floor((endsMs - tools.clock.now()) / 1_000), 1)
    if (await deleteExactly(tools, pods, pod, { gracePeriodSeconds })) deleted.push(pod.metadata.name)
  }

  async function evict(pod: Pod): Promise<void> {
    const { namespace = '', name, uid = '', annotations } = pod.metadata
    const { atMs = 0, waitMs = 100 } = retries.get(uid) ?? {}
    if (isTerminating(pod) || annotations?.['karpenter.sh/do-not-disrupt'] === 'true' || tools.clock.now() < atMs)
      return
    try {
      await evictPod(tools.api, { namespace, name, uid })
    } catch (error) {
      if (hasReason(error, 'NotFound', 'Conflict')) return
      retries.set(uid, { atMs: tools.clock.now() + waitMs, waitMs: Math.min(2 * waitMs, longestRetryMs) })
      if (!hasReason(error, 'TooManyRequests')) throw error
    }
  }

  async function release<T extends KubeObject>(type: ResourceType<T>, { metadata }: T): Promise<void> {
    const finalizers = (metadata.finalizers ?? []).filter((each) => each !== terminationFinalizer)
    const body = { metadata: { finalizers, resourceVersion: metadata.resourceVersion ?? '' } }
    await tools.api.patch(type, { name: metadata.name }, { type: 'merge', body })
  }

  tools.onStop(claimView.subscribe(({ key, after }) => (after === undefined ? undefined : queue.add(key))))
  return { deleted: () => [...deleted], removed: () => [...removed] }
}

export async function taintNode({ api, views }: ActorTools, { metadata, spec }: Node): Promise<void> {
  const taints = spec?.taints ?? []
  if (taints.some(({ key }) => key === disruptedTaint.key)) return
  const body = {
    metadata: {
      resourceVersion: metadata.resourceVersion ?? '',
      labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': 'karpenter' },
    },
    spec: { taints: [...taints, disruptedTaint].map((taint) => ({ ...taint })) },
  }
  views.of(nodes).record(await api.patch(nodes, { name: metadata.name }, { type: 'merge', body }))
}

function isWaitedFor(pod: Pod): boolean {
  return (
    !isFinished(pod) &&
    !isMirrorPod(pod) &&
    !(pod.spec.tolerations ?? []).some((each) => tolerates(each, disruptedTaint))
  )
}

function endOf({ metadata }: NodeClaim): number {
  const at = metadata.annotations?.[terminationTimeAnnotation]
  return at === undefined ? Number.POSITIVE_INFINITY : Date.parse(at)
}
