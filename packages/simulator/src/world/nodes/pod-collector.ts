import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Actor, type ActorPorts, deleteExactly, openTools, writeStatus } from '../actor.ts'
import { withCondition } from '../conditions.ts'
import { isFinished, isTerminating } from '../pod-facts.ts'
import { indexByNode } from '../workloads/owned-pods.ts'

export interface PodCollectorOptions {
  readonly periodSeconds?: number
  /** A node that has gone may come back within this time before its pods are given up. */
  readonly quarantineSeconds?: number
}

/** Removes pods that nobody else will: those of nodes that have gone, and terminating ones that no machine will end. */
export function startPodCollector(ports: ActorPorts & PodCollectorOptions): Actor {
  const { periodSeconds = 20, quarantineSeconds = 40 } = ports
  const tools = openTools('pod-garbage-collector', ports)
  const nodeView = tools.views.of(nodes)
  const podView = tools.views.of(pods)
  const podsOn = indexByNode(podView)
  const missingSince = new Map<string, number>()
  const queue = tools.queue({ needs: [nodeView, podView], work: collect, concurrency: 1 })
  const everything = 'all'

  async function collect(): Promise<void> {
    for (const name of nodesWithPods()) {
      if (nodeView.get(name) === undefined && (await isGone(name))) await collectOrphans(name)
    }
    for (const pod of [...podView.values()].filter(isTerminating)) {
      if ((pod.spec.nodeName ?? '') === '' || isOutOfService(pod)) await remove(pod)
    }
  }

  function nodesWithPods(): Set<string> {
    const names = new Set<string>()
    for (const pod of podView.values()) {
      const name = pod.spec.nodeName ?? ''
      if (name !== '' && nodeView.get(name) === undefined) names.add(name)
    }
    for (const name of missingSince.keys()) if (!names.has(name)) missingSince.delete(name)
    return names
  }

  /** Gone for the whole quarantine, and the server says so too. */
  async function isGone(name: string): Promise<boolean> {
    const since = missingSince.get(name)
    if (since === undefined) missingSince.set(name, tools.clock.now())
    if (since === undefined || tools.clock.now() - since < quarantineSeconds * 1_000) return false
    return tools.api.get(nodes, { name }).then(
      () => false,
      (error: unknown) => hasReason(error, 'NotFound'),
    )
  }

  async function collectOrphans(name: string): Promise<void> {
    for (const pod of Array.from(podsOn(name))) {
      const conditions = withCondition(pod.status?.conditions, {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByPodGC',
        message: 'PodGC: node no longer exists',
        lastTransitionTime: timestamp(tools.clock),
      })
      await remove({ ...pod, status: { ...pod.status, conditions } })
    }
  }

  function isOutOfService(pod: Pod): boolean {
    const node = nodeView.get(pod.spec.nodeName ?? '')
    const isTainted = node?.spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/out-of-service') === true
    return node !== undefined && isTainted && conditionOf(node, 'Ready')?.status !== 'True'
  }

  /** Says that the pod has failed, then deletes it without waiting for a kubelet. */
  async function remove(pod: Pod): Promise<void> {
    const status = isFinished(pod) ? { ...pod.status } : { ...pod.status, phase: 'Failed' as const }
    const last = await writeStatus(tools, pods, pod, status)
    await deleteExactly(tools, pods, last, { gracePeriodSeconds: 0 })
  }

  tools.every(periodSeconds * 1_000, () => queue.add(everything))
  return { stop: tools.stop }
}
