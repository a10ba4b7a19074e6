import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Actor, type ActorPorts, openTools, writeStatus } from '../actor.ts'
import { withCondition } from '../conditions.ts'
import { isFinished, isTerminating } from '../pod-facts.ts'
import { ClusterLoad } from './cluster-load.ts'
import { placePod } from './place-pod.ts'

export interface SchedulerOptions {
  /** Pods that found no place try again this long after one may have come free. */
  readonly retryMs?: number
  /** The `schedulerName` that pods call it by. */
  readonly schedulerName?: string
}

type SchedulerFields = { readonly schedulerName?: string; readonly schedulingGates?: readonly object[] }

/** Binds pods to nodes. */
export function startScheduler(ports: ActorPorts & SchedulerOptions): Actor {
  const { retryMs = 1_000, schedulerName = 'default-scheduler' } = ports
  const tools = openTools(schedulerName, ports)
  const podView = tools.views.of(pods)
  const nodeView = tools.views.of(nodes)
  const cluster = new ClusterLoad()
  const unplaced = new Set<string>()
  /** Pods of one kind that found no place, with the state of the cluster in which they did. */
  const hopeless = new Map<string, { readonly freed: number; readonly message: string }>()
  let searchFrom = 0
  let seenFreed = 0
  let cancelRetry: (() => void) | undefined
  // One at a time: each placement counts on all before it.
  const queue = tools.queue({ needs: [podView, nodeView], work: place, concurrency: 1 })

  async function place(key: string): Promise<void> {
    const pod = podView.get(key)
    if (pod === undefined || !isWaiting(pod)) {
      unplaced.delete(key)
      return
    }
    const kind = kindOf(pod)
    const known = kind === undefined ? undefined : hopeless.get(kind)
    if (known !== undefined && known.freed === cluster.freed) return refuse(pod, known.message)
    const placement = placePod(cluster, pod, searchFrom)
    if (placement.placed) return bind(pod, placement.node)
    if (hopeless.size > 1_000) hopeless.clear()
    if (kind !== undefined) hopeless.set(kind, { freed: cluster.freed, message: placement.message })
    return refuse(pod, placement.message)
  }

  async function bind(pod: Pod, node: string): Promise<void> {
    searchFrom += 1
    const { namespace, name, uid } = pod.metadata
    cluster.assume(pod, node)
    try {
      await tools.api.createSubresource(pods, keyOf(pod), 'binding', {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...(uid === undefined ? {} : { uid }) },
        target: { apiVersion: 'v1', kind: 'Node', name: node },
      })
    } catch (error) {
      cluster.setPod(keyText(keyOf(pod)), podView.get(keyText(keyOf(pod))))
      if (error instanceof ApiError && error.code === 404) return
      throw error
    }
    unplaced.delete(keyText(keyOf(pod)))
    tools.recorder.record(pod, 'Normal', 'Scheduled', `Successfully assigned ${keyText(keyOf(pod))} to ${node}`)
  }

  async function refuse(pod: Pod, message: string): Promise<void> {
    unplaced.add(keyText(keyOf(pod)))
    const held = conditionOf(pod, 'PodScheduled')
    if (held?.status === 'False' && held.reason === 'Unschedulable' && held.message === message) return
    tools.recorder.record(pod, 'Warning', 'FailedScheduling', message)
    const conditions = withCondition(pod.status?.conditions, {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastTransitionTime: timestamp(tools.clock),
    })
    await writeStatus(tools, pods, pod, { ...pod.status, conditions })
  }

  function isWaiting(pod: Pod): boolean {
    const { schedulerName: asked = 'default-scheduler', schedulingGates = [] } = pod.spec as SchedulerFields
    const isUnbound = pod.spec.nodeName === undefined || pod.spec.nodeName === ''
    return (
      isUnbound && asked === schedulerName && schedulingGates.length === 0 && !isTerminating(pod) && !isFinished(pod)
    )
  }

  /** A burst of changes wakes the pods without a place once. */
  function retrySoon(): void {
    if (cluster.freed === seenFreed || unplaced.size === 0 || cancelRetry !== undefined) return
    cancelRetry = tools.clock.after(retryMs, () => {
      cancelRetry = undefined
      seenFreed = cluster.freed
      for (const key of byPriority([...unplaced])) queue.add(key)
    })
  }

  function byPriority(keys: string[]): string[] {
    const priority = (key: string) => podView.get(key)?.spec.priority ?? 0
    return keys.sort((a, b) => priority(b) - priority(a))
  }

  tools.onStop(() => cancelRetry?.())
  tools.onStop(
    nodeView.subscribe(({ key, after }) => {
      cluster.setNode(key, after)
      retrySoon()
    }),
  )
  tools.onStop(
    podView.subscribe(({ key, before, after }) => {
      const isBound = (after?.spec.nodeName ?? '') !== ''
      if (after === undefined || isBound) {
        cluster.setPod(key, after)
        unplaced.delete(key)
        // A pod that waits to be near another one may have got its neighbour.
        if (isBound && before !== undefined && before.spec.nodeName === undefined) wakeSociable()
      } else {
        // A restored backup has it without a place again.
        if ((before?.spec.nodeName ?? '') !== '') cluster.setPod(key, undefined)
        if (isWaiting(after) && !(unplaced.has(key) && isSameJson(before?.spec, after.spec))) queue.add(key)
      }
      retrySoon()
    }),
  )

  function wakeSociable(): void {
    for (const key of unplaced) {
      const pod = podView.get(key)
      if (pod !== undefined && dependsOnOthers(pod)) queue.add(key)
    }
  }

  return { stop: tools.stop }
}

/** Pods that need others to be somewhere can find a place although none came free. */
function dependsOnOthers(pod: Pod): boolean {
  const { affinity, topologySpreadConstraints = [] } = pod.spec
  return affinity?.podAffinity !== undefined || topologySpreadConstraints.length > 0
}

/** Pods of one owner and one template fit where their siblings fit; those made for one node each are all different. */
function kindOf(pod: Pod): string | undefined {
  const { ownerReferences, labels = {} } = pod.metadata
  const owner = ownerReferences?.find(({ controller }) => controller === true)
  if (owner === undefined || owner.kind !== 'ReplicaSet' || dependsOnOthers(pod)) return undefined
  return `${owner.uid}/${labels['pod-template-hash'] ?? ''}`
}
