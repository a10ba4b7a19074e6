import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Actor, type ActorPorts, type ActorTools, deleteExactly, openTools } from '../actor.ts'
import { cutPower, type PowerSwitch } from '../machines/power-cycle.ts'
import { indexByNode } from '../workloads/owned-pods.ts'
import {
  type CandidateRules,
  isDaemonPod,
  isReadyNode,
  podsToMove,
  toBeDeletedTaint,
  unremovableReason,
} from './scale-down-candidates.ts'

/** Its flags, with the values that it has without them. */
export interface ClusterAutoscalerOptions extends Partial<CandidateRules> {
  /** The nodes of its one node group. */
  readonly group: readonly string[]
  /** Default 1. */
  readonly minSize?: number
  readonly scanSeconds?: number
  readonly unneededSeconds?: number
  readonly unreadySeconds?: number
  /** `--max-pod-eviction-time` */
  readonly podEvictionSeconds?: number
  readonly maxGracefulTerminationSeconds?: number
  readonly delayAfterFailureSeconds?: number
  /** `--cordon-node-before-terminating`, on since 1.34. */
  readonly cordons?: boolean
}

export interface ClusterAutoscaler extends Actor {
  /** Nodes that it has taken away, in order. */
  removed(): readonly string[]
  /** `node-1: failed to drain`, in order. */
  failures(): readonly string[]
}

const evictionRetryMs = 10_000
const pollMs = 5_000
/** Beyond the grace period, for pods that are killed at its end. */
const headroomMs = 30_000
const defaultGraceSeconds = 30
const maxParallelism = 10

/**
 * The scale-down of cluster-autoscaler 1.36: every scan it notes since when a node is not needed; one for which that is long enough is
 * tainted (and cordoned), its pods are evicted, and its machine is deleted. An empty node is deleted without an eviction. When an
 * eviction is refused for too long the taint is removed, and with it any cordon. Where pods would fit is not simulated: one other
 * open node is enough.
 */
export function startClusterAutoscaler(
  ports: ActorPorts & { readonly kubelet: PowerSwitch },
  options: ClusterAutoscalerOptions,
): ClusterAutoscaler {
  const { group, minSize = 1, scanSeconds = 10, unneededSeconds = 600, unreadySeconds = 1_200 } = options
  const rules = { threshold: options.threshold ?? 0.5, skipsLocalStorage: options.skipsLocalStorage ?? true }
  const tools = openTools('cluster-autoscaler', ports)
  const nodeView = tools.views.of(nodes)
  const podsOn = indexByNode(tools.views.of(pods))
  const budgetView = tools.views.of(podDisruptionBudgets)
  const unneededSince = new Map<string, number>()
  const inDeletion = new Set<string>()
  const removed: string[] = []
  const failures: string[] = []
  let restsUntilMs = 0

  function scan(): void {
    const now = tools.clock.now()
    const present = group.flatMap((name) => nodeView.get(name) ?? [])
    for (const node of present) note(node, now)
    if (now < restsUntilMs) return
    let size = present.length - inDeletion.size
    const isDraining = () => [...inDeletion].some((name) => podsToMove([...podsOn(name)]).length > 0)
    for (const node of present.filter((each) => isRemovable(each, now))) {
      const isEmpty = podsToMove([...podsOn(node.metadata.name)]).length === 0
      if (size <= minSize || inDeletion.size >= maxParallelism || (!isEmpty && isDraining())) continue
      size -= 1
      inDeletion.add(node.metadata.name)
      void remove(node, isEmpty)
        .catch((error: unknown) => tools.fail(node.metadata.name, error))
        .finally(() => inDeletion.delete(node.metadata.name))
    }
  }

  function note(node: Node, now: number): void {
    const { name } = node.metadata
    const seen = { pods: [...podsOn(name)], budgets: [...budgetView.values()] }
    const isUnneeded = unremovableReason(node, seen, rules) === undefined && hasOtherPlace(name)
    if (!isUnneeded) unneededSince.delete(name)
    else if (!unneededSince.has(name)) unneededSince.set(name, now)
  }

  function isRemovable(node: Node, now: number): boolean {
    const since = unneededSince.get(node.metadata.name)
    const neededSeconds = isReadyNode(node) ? unneededSeconds : unreadySeconds
    return since !== undefined && now - since > neededSeconds * 1_000 && !inDeletion.has(node.metadata.name)
  }

  function hasOtherPlace(name: string): boolean {
    return [...nodeView.values()].some(
      (node) => node.metadata.name !== name && isReadyNode(node) && node.spec?.unschedulable !== true,
    )
  }

  async function remove(node: Node, isEmpty: boolean): Promise<void> {
    const { name } = node.metadata
    await setTaint(tools, name, { isSet: true, cordons: options.cordons ?? true })
    tools.recorder.record(node, 'Normal', 'ScaleDown', 'marked the node as toBeDeleted/unschedulable')
    const all = [...podsOn(name)]
    if (!isEmpty && !(await drain(name, podsToMove(all), all.filter(isDaemonPod)))) {
      failures.push(`${name}: failed to drain`)
      restsUntilMs = tools.clock.now() + (options.delayAfterFailureSeconds ?? 180) * 1_000
      unneededSince.delete(name)
      tools.recorder.record(node, 'Warning', 'ScaleDownFailed', 'failed to drain and delete node')
      await setTaint(tools, name, { isSet: false, cordons: options.cordons ?? true })
      return
    }
    cutPower(ports.kubelet, name)
    await deleteExactly(tools, nodes, node)
    removed.push(name)
  }

  /** False: not all went in time. Pods of DaemonSets are asked once, and not waited for. */
  async function drain(nodeName: string, leaving: readonly Pod[], daemons: readonly Pod[]): Promise<boolean> {
    const untilMs = tools.clock.now() + (options.podEvictionSeconds ?? 120) * 1_000
    const longestSeconds = options.maxGracefulTerminationSeconds ?? 600
    for (const pod of daemons) void evict(pod, 0, longestSeconds).catch(() => false)
    const granted = await Promise.all(leaving.map((pod) => evict(pod, untilMs, longestSeconds)))
    if (granted.includes(false)) return false
    const goneBy = tools.clock.now() + longestSeconds * 1_000 + headroomMs
    while (tools.clock.now() < goneBy) {
      const isLeft = await Promise.all(leaving.map((pod) => isStillThere(pod, nodeName)))
      if (!isLeft.includes(true)) return true
      await sleep(tools.clock, pollMs)
    }
    return false
  }

  /** By name alone, with a grace period that is cut to the longest; refusals of all kinds are tried again. */
  async function evict({ metadata, spec }: Pod, untilMs: number, longestSeconds: number): Promise<boolean> {
    const key = { namespace: metadata.namespace ?? '', name: metadata.name }
    const own = spec.terminationGracePeriodSeconds ?? defaultGraceSeconds
    for (;;) {
      try {
        await evictPod(tools.api, key, { gracePeriodSeconds: Math.min(own, longestSeconds) })
        return true
      } catch (error) {
        if (hasReason(error, 'NotFound')) return true
        await sleep(tools.clock, evictionRetryMs)
        if (tools.clock.now() >= untilMs) return false
      }
    }
  }

  async function isStillThere({ metadata }: Pod, nodeName: string): Promise<boolean> {
    const key = { namespace: metadata.namespace ?? '', name: metadata.name }
    const found = await tools.api.get(pods, key).catch((error: unknown) => {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    })
    return found?.spec.nodeName === nodeName
  }

  tools.every(scanSeconds * 1_000, scan)
  return { stop: tools.stop, removed: () => [...removed], failures: () => [...failures] }
}

const conflictRetryMs = 750

/** Taint and cordon go together, in both directions: whoever else has cordoned the node is not asked. */
async function setTaint(
  { api, clock }: ActorTools,
  name: string,
  { isSet, cordons }: { readonly isSet: boolean; readonly cordons: boolean },
): Promise<void> {
  for (;;) {
    const node = await api.get(nodes, { name })
    const others = (node.spec?.taints ?? []).filter(({ key }) => key !== toBeDeletedTaint)
    const value = String(Math.floor(clock.now() / 1_000))
    const taints = isSet ? [...others, { key: toBeDeletedTaint, value, effect: 'NoSchedule' as const }] : others
    const spec = { ...node.spec, taints, ...(cordons ? { unschedulable: isSet } : {}) }
    try {
      return void (await api.update(nodes, { ...node, spec }))
    } catch (error) {
      if (!hasReason(error, 'Conflict')) throw error
      await sleep(clock, conflictRetryMs)
    }
  }
}
