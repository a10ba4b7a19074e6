import type { ReplicaSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { pods, replicaSets } from '@cofferdam/kubernetes/api/resources.ts'
import { type Actor, type ActorPorts, openTools, workloadLagMs, writeStatus } from '../actor.ts'
import { availableInMs, compareText, createdAt, isActive, isReady, isTerminating } from '../pod-facts.ts'
import { claimPods, indexByController, indexByNode, wakeOwners } from './owned-pods.ts'
import { buildPod, createOwnedPod, deleteOwnedPod, withoutZeros } from './pod-control.ts'

/** Keeps as many pods as each ReplicaSet asks for. */
export function startReplicaSets(ports: ActorPorts): Actor {
  const tools = openTools('replicaset-controller', ports)
  const sets = tools.views.of(replicaSets)
  const podView = tools.views.of(pods)
  const podsOf = indexByController(podView)
  indexByNode(podView)
  const queue = tools.queue({ needs: [sets, podView], work: reconcile, delayMs: workloadLagMs })

  async function reconcile(key: string): Promise<void> {
    const set = sets.get(key)
    if (set === undefined) return
    const active = (await claimPods({ tools, owner: set, type: replicaSets })).filter(isActive)
    if (!isTerminating(set)) await reachScale(set, active)
    await reportStatus(set)
  }

  async function reachScale(set: ReplicaSet, active: readonly Pod[]): Promise<void> {
    const wanted = set.spec.replicas ?? 1
    for (let count = active.length; count < wanted && set.spec.template !== undefined; count += 1) {
      await createOwnedPod(tools, set, buildPod({ owner: set, type: replicaSets, template: set.spec.template }))
    }
    for (const pod of podsToLetGo(active, active.length - wanted)) await deleteOwnedPod(tools, set, pod)
  }

  async function reportStatus(set: ReplicaSet): Promise<void> {
    const active = [...podsOf(set.metadata.uid as string)].filter(isActive)
    const { minReadySeconds = 0, template } = set.spec
    const nowMs = tools.clock.now()
    const waits = active.map((pod) => availableInMs(pod, minReadySeconds, nowMs)).filter((wait) => wait !== undefined)
    const templateLabels = { matchLabels: template?.metadata?.labels ?? {} }
    const status = {
      replicas: active.length,
      ...withoutZeros({
        fullyLabeledReplicas: active.filter((pod) => isSelected(templateLabels, pod.metadata.labels)).length,
        readyReplicas: active.filter(isReady).length,
        availableReplicas: waits.filter((wait) => wait === 0).length,
        observedGeneration: set.metadata.generation ?? 0,
      }),
    }
    const soonest = Math.min(...waits.filter((wait) => wait > 0))
    if (Number.isFinite(soonest)) queue.addAfter(`${set.metadata.namespace}/${set.metadata.name}`, soonest)
    if (!isSameJson(status, set.status)) await writeStatus(tools, replicaSets, set, status)
  }

  tools.onStop(sets.subscribe(({ key }) => queue.add(key)))
  wakeOwners({ tools, owned: podView, type: replicaSets, queue })
  return { stop: tools.stop }
}

/**
 * Which pods a smaller set gives up first: not placed, not running, not ready, cheap, crowded on their node, young.
 */
export function podsToLetGo(pods: readonly Pod[], count: number): Pod[] {
  if (count <= 0) return []
  const readyOnNode = new Map<string, number>()
  for (const pod of pods) {
    const node = pod.spec.nodeName
    if (node !== undefined && isReady(pod)) readyOnNode.set(node, (readyOnNode.get(node) ?? 0) + 1)
  }
  const rank = (pod: Pod): number[] => [
    pod.spec.nodeName === undefined ? 0 : 1,
    ['Pending', 'Unknown', 'Running'].indexOf(pod.status?.phase ?? 'Pending'),
    isReady(pod) ? 1 : 0,
    Number.parseInt(pod.metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'] ?? '0', 10) || 0,
    -(readyOnNode.get(pod.spec.nodeName ?? '') ?? 0),
    -Date.parse(conditionOf(pod, 'Ready')?.lastTransitionTime ?? '') || 0,
    -Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)),
    -createdAt(pod),
  ]
  const ranked = pods.map((pod) => ({ pod, rank: rank(pod) }))
  ranked.sort((a, b) => compareRanks(a.rank, b.rank) || compareText(a.pod.metadata.name, b.pod.metadata.name))
  return ranked.slice(0, count).map(({ pod }) => pod)
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < a.length; at += 1) {
    const difference = (a[at] as number) - (b[at] as number)
    if (difference !== 0) return difference
  }
  return 0
}
