import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import {
  type LonghornDiskStatus,
  type LonghornNode,
  type LonghornReplica,
  longhornNodes,
  longhornReplicas,
  longhornSettings,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { type Condition, conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { randomUid } from '@cofferdam/kubernetes/runtime/random.ts'
import { type ActorTools, writeStatus } from '../actor.ts'
import { withCondition } from '../conditions.ts'
import type { DataPlane } from './data-plane.ts'
import { isGoing, letGo, longhornFinalizers } from './finalizer.ts'
import { type DiskDescription, defaultDisks, gibibyte, type LonghornDescription } from './longhorn-description.ts'
import { isSameValue } from './same-value.ts'
import type { SettingsReader } from './settings.ts'

export interface NodeStatusPorts {
  readonly tools: ActorTools
  readonly namespace: string
  readonly description: LonghornDescription
  readonly data: DataPlane
  readonly settings: SettingsReader
  readonly brokenDisks: ReadonlySet<string>
  readonly bytesPerBlock: (volume: string) => number
  readonly notReadyGraceMs: number
  /** Nodes on which Longhorn's manager was stopped. */
  readonly withoutManager: ReadonlySet<string>
  readonly resyncMs: number
}

/** Longhorn's own nodes: made where Kubernetes has one, with the status of it and of its disks. */
export function startNodeStatus(ports: NodeStatusPorts): { readonly enqueue: (node: string) => void } {
  const { tools, namespace, description, data, settings } = ports
  const kubeNodes = tools.views.of(nodes)
  const ours = tools.views.of(longhornNodes)
  const replicas = tools.views.of(longhornReplicas)
  const onDisk = replicas.indexBy('disk', ({ spec }) => [spec?.diskID ?? ''])
  const uuids = new Map<string, string>()
  const needs = [kubeNodes, ours, replicas, tools.views.of(longhornSettings)]
  const queue = tools.queue({ needs, work: reconcile })

  async function reconcile(name: string): Promise<void> {
    const kubeNode = kubeNodes.get(name)
    const node = ours.get(`${namespace}/${name}`)
    if (node === undefined) {
      if (kubeNode === undefined || (description.nodes !== undefined && description.nodes[name] === undefined)) return
      ours.record(await tools.api.create(longhornNodes, buildNode(name, namespace, description)))
      queue.add(name)
      return
    }
    if (isGoing(node)) {
      await letGo(tools, longhornNodes, node)
      return
    }
    const status = buildStatus(node, kubeNode)
    if (!isSameValue(status, node.status)) await writeStatus(tools, longhornNodes, node, status)
  }

  function buildStatus(node: LonghornNode, kubeNode: Node | undefined): NonNullable<LonghornNode['status']> {
    const labels = kubeNode?.metadata.labels
    const conditions = [readiness(kubeNode), schedulability(kubeNode)].reduce(
      (held, next) => withCondition(held, { ...next, lastTransitionTime: timestamp(tools.clock) }),
      node.status?.conditions ?? [],
    )
    const disks = Object.keys(node.spec?.disks ?? {})
    return {
      autoEvicting: false,
      ...node.status,
      zone: labels?.['topology.kubernetes.io/zone'] ?? node.status?.zone ?? '',
      region: labels?.['topology.kubernetes.io/region'] ?? node.status?.region ?? '',
      conditions,
      diskStatus: Object.fromEntries(disks.map((disk) => [disk, diskStatus(node, disk)])),
    }
  }

  /** Short silence is not recorded: kubelets stumble. */
  function readiness(kubeNode: Node | undefined): Condition {
    if (kubeNode === undefined) return { type: 'Ready', status: 'False', reason: 'KubernetesNodeGone' }
    const ready = conditionOf(kubeNode, 'Ready')
    if (ports.withoutManager.has(kubeNode.metadata.name))
      return { type: 'Ready', status: 'False', reason: 'ManagerPodDown' }
    if (ready === undefined || ready.status === 'True') return { type: 'Ready', status: 'True' }
    const sinceMs = tools.clock.now() - (Date.parse(ready.lastTransitionTime ?? '') || 0)
    if (sinceMs >= ports.notReadyGraceMs) return { type: 'Ready', status: 'False', reason: 'KubernetesNodeNotReady' }
    queue.addAfter(kubeNode.metadata.name, ports.notReadyGraceMs - sinceMs + 1)
    return { type: 'Ready', status: 'True' }
  }

  function schedulability(kubeNode: Node | undefined): Condition {
    const isClosed = kubeNode?.spec?.unschedulable === true && settings.flag('disable-scheduling-on-cordoned-node')
    if (!isClosed) return { type: 'Schedulable', status: 'True' }
    return { type: 'Schedulable', status: 'False', reason: 'KubernetesNodeCordoned' }
  }

  function diskStatus(node: LonghornNode, disk: string): LonghornDiskStatus {
    const { name } = node.metadata
    const held = node.status?.diskStatus?.[disk]
    const { maximumBytes = 100 * gibibyte, uuid } = describedDisk(name, disk, description)
    const diskUUID = held?.diskUUID ?? uuids.get(`${name}/${disk}`) ?? uuid ?? randomUid(tools.random)
    uuids.set(`${name}/${disk}`, diskUUID)
    const scheduled = [...onDisk(diskUUID)].sort(byName).map((one) => [one.metadata.name, sizeOf(one)] as const)
    const stored = data
      .storesOn(diskUUID)
      .reduce((total, { volume, blocks }) => total + blocks.usedCount * ports.bytesPerBlock(volume), 0)
    const available = Math.max(0, maximumBytes - stored)
    const isBroken = ports.brokenDisks.has(diskUUID)
    const isFull = available <= (maximumBytes * settings.number('storage-minimal-available-percentage')) / 100
    const states: Condition[] = [
      { type: 'Ready', status: isBroken ? 'False' : 'True', ...(isBroken ? { reason: 'DiskNotReady' } : {}) },
      {
        type: 'Schedulable',
        status: isBroken || isFull ? 'False' : 'True',
        ...(isBroken || isFull ? { reason: isBroken ? 'DiskNotReady' : 'DiskPressure' } : {}),
      },
    ]
    return {
      diskUUID,
      storageAvailable: available,
      storageMaximum: maximumBytes,
      storageScheduled: scheduled.reduce((total, [, bytes]) => total + bytes, 0),
      scheduledReplica: Object.fromEntries(scheduled),
      conditions: states.reduce(
        (all, next) => withCondition(all, { ...next, lastTransitionTime: timestamp(tools.clock) }),
        held?.conditions ?? [],
      ),
    }
  }

  const enqueueAll = () => {
    for (const node of ours.values()) queue.add(node.metadata.name)
  }
  tools.onStop(kubeNodes.subscribe(({ key }) => queue.add(key)))
  tools.onStop(ours.subscribe(({ before, after }) => queue.add((after ?? before)?.metadata.name ?? '')))
  tools.onStop(
    replicas.subscribe(({ before, after }) => {
      for (const node of new Set([before?.spec?.nodeID, after?.spec?.nodeID])) if (node) queue.add(node)
    }),
  )
  tools.onStop(tools.views.of(longhornSettings).subscribe(enqueueAll))
  tools.every(ports.resyncMs, enqueueAll)
  return { enqueue: (node) => queue.add(node) }
}

function disksOf(node: string, description: LonghornDescription): readonly DiskDescription[] {
  return description.nodes?.[node]?.disks ?? description.disks ?? defaultDisks
}

function describedDisk(node: string, disk: string, description: LonghornDescription): DiskDescription {
  return disksOf(node, description).find(({ name }) => name === disk) ?? { name: disk }
}

function buildNode(name: string, namespace: string, description: LonghornDescription): LonghornNode {
  const disks = disksOf(name, description).map((disk) => [
    disk.name,
    {
      path: `/var/lib/longhorn/${disk.name}`,
      diskType: disk.diskType ?? 'filesystem',
      allowScheduling: true,
      evictionRequested: false,
      storageReserved: disk.reservedBytes ?? 0,
      tags: disk.tags ?? [],
    },
  ])
  return {
    apiVersion: 'longhorn.io/v1beta2',
    kind: 'Node',
    metadata: { name, namespace, finalizers: longhornFinalizers },
    spec: {
      name,
      allowScheduling: true,
      evictionRequested: false,
      tags: description.nodes?.[name]?.tags ?? [],
      disks: Object.fromEntries(disks),
    },
  }
}

function sizeOf(replica: LonghornReplica): number {
  return Number(replica.spec?.volumeSize ?? 0)
}

function byName(a: LonghornReplica, b: LonghornReplica): number {
  return a.metadata.name < b.metadata.name ? -1 : 1
}
