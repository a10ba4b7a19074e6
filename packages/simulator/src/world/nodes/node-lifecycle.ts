import type { Lease, Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { type Condition, conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { leases, nodeLeaseNamespace, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Actor, type ActorPorts, openTools, writeStatus } from '../actor.ts'
import { withCondition } from '../conditions.ts'
import { isReady } from '../pod-facts.ts'
import { indexByNode } from '../workloads/owned-pods.ts'
import { decideTaints } from './node-taints.ts'

export interface NodeLifecycleOptions {
  /** A node that has not been heard of for so long is out of reach. */
  readonly graceSeconds?: number
  readonly periodSeconds?: number
}

/** When a node was last heard of, by our own clock: the times that nodes write may be wrong. */
interface Heard {
  renewTime: string | undefined
  statusBeat: string | undefined
  at: number
}

const watchedConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

/** Notices nodes that have gone silent, taints nodes for what they say, and marks the pods of lost nodes. */
export function startNodeLifecycle(ports: ActorPorts & NodeLifecycleOptions): Actor {
  const { graceSeconds = 40, periodSeconds = 5 } = ports
  const tools = openTools('node-controller', ports)
  const nodeView = tools.views.of(nodes)
  const leaseView = tools.views.of(leases)
  const podView = tools.views.of(pods)
  const podsOn = indexByNode(podView)
  const heard = new Map<string, Heard>()
  const lost = new Set<string>()
  const queue = tools.queue({ needs: [nodeView, leaseView, podView], work: reconcile })

  async function reconcile(name: string): Promise<void> {
    const node = nodeView.get(name)
    if (node === undefined) return
    const observed = isSilent(name) ? await reportSilence(node) : node
    await writeTaints(observed)
    // Once for each time it is lost: a kubelet that still speaks for its pods knows better.
    if (conditionOf(observed, 'Ready')?.status === 'True') lost.delete(name)
    else if (!lost.has(name)) {
      await reportPodsNotReady(name)
      lost.add(name)
    }
  }

  function isSilent(name: string): boolean {
    const at = heard.get(name)?.at
    return at !== undefined && tools.clock.now() - at > graceSeconds * 1_000
  }

  async function reportSilence(node: Node): Promise<Node> {
    const now = timestamp(tools.clock)
    const conditions = watchedConditions.reduce<readonly Condition[]>((all, type) => {
      const held = all.find((condition) => condition.type === type)
      if (held?.status === 'Unknown') return all
      const [reason, message] =
        held === undefined
          ? ['NodeStatusNeverUpdated', 'Kubelet never posted node status.']
          : ['NodeStatusUnknown', 'Kubelet stopped posting node status.']
      const unknown = { type, status: 'Unknown' as const, reason: reason as string, message: message as string }
      const beat = held?.lastHeartbeatTime
      return withCondition(all, {
        ...unknown,
        ...(beat === undefined ? {} : { lastHeartbeatTime: beat }),
        lastTransitionTime: now,
      })
    }, node.status?.conditions ?? [])
    if (conditions === node.status?.conditions) return node
    const { name } = node.metadata
    tools.recorder.record(node, 'Normal', 'NodeNotReady', `Node ${name} status is now: NodeNotReady`)
    return writeStatus(tools, nodes, node, { ...node.status, conditions })
  }

  async function writeTaints(node: Node): Promise<void> {
    const taints = decideTaints(node, timestamp(tools.clock))
    if (taints === undefined) return
    const { taints: _, ...spec } = node.spec ?? {}
    const written = await tools.api.update(nodes, {
      ...node,
      spec: taints.length === 0 ? spec : { ...spec, taints },
    })
    nodeView.record(written)
  }

  async function reportPodsNotReady(name: string): Promise<void> {
    for (const pod of Array.from(podsOn(name))) if (isReady(pod)) await reportPodNotReady(pod)
  }

  async function reportPodNotReady(pod: Pod): Promise<void> {
    const held = conditionOf(pod, 'Ready') as Condition
    const conditions = withCondition(pod.status?.conditions, {
      ...held,
      status: 'False',
      lastTransitionTime: timestamp(tools.clock),
    })
    await writeStatus(tools, pods, pod, { ...pod.status, conditions })
    tools.recorder.record(pod, 'Warning', 'NodeNotReady', 'Node is not ready')
  }

  function hear(name: string, heartbeat: Partial<Pick<Heard, 'renewTime' | 'statusBeat'>>): void {
    const known = heard.get(name)
    if (known === undefined) {
      heard.set(name, { renewTime: undefined, statusBeat: undefined, ...heartbeat, at: tools.clock.now() })
      return
    }
    const isNew =
      (heartbeat.renewTime !== undefined && heartbeat.renewTime !== known.renewTime) ||
      (heartbeat.statusBeat !== undefined && heartbeat.statusBeat !== known.statusBeat)
    if (isNew) Object.assign(known, heartbeat, { at: tools.clock.now() })
  }

  tools.onStop(
    nodeView.subscribe(({ key, after }) => {
      if (after === undefined) {
        heard.delete(key)
        lost.delete(key)
        return
      }
      const statusBeat = conditionOf(after, 'Ready')?.lastHeartbeatTime
      hear(key, statusBeat === undefined ? {} : { statusBeat })
      queue.add(key)
    }),
  )
  tools.onStop(
    leaseView.subscribe(({ after }) => {
      if (after?.metadata.namespace === nodeLeaseNamespace) hearLease(after)
    }),
  )

  function hearLease({ metadata, spec }: Lease): void {
    if (heard.has(metadata.name) && spec?.renewTime !== undefined) hear(metadata.name, { renewTime: spec.renewTime })
  }

  tools.every(periodSeconds * 1_000, () => {
    for (const node of nodeView.values()) {
      const key = keyText(keyOf(node))
      if (isSilent(key) && conditionOf(node, 'Ready')?.status !== 'Unknown') queue.add(key)
    }
  })
  return { stop: tools.stop }
}
