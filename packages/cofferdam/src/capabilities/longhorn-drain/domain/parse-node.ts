import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { LonghornNode } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { Condition } from '@cofferdam/kubernetes/api/kube-object.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { closingOf, cordonTaint, isClosedToPods } from '../../../shared/closed-node.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { UnreadableObject } from '../../../shared/parsed.ts'
import { ownCordonOf } from './closing-mark.ts'
import { movingAnnotation, parseMovingRecord } from './moving-record.ts'
import { unreadable } from './parse-replica.ts'
import { Reading } from './reading.ts'
import type { DiskRoom, DiskView, LonghornNodeView } from './snapshot.ts'

/** A kubelet that is silent for less is a blip: nothing is held for its sake, but what is held stays. */
const blipMs = 15_000

export interface NodeSurroundings {
  readonly kubeNode: Node | undefined
  readonly disruptions: readonly NodeDisruption[]
  readonly nowMs: number
  /** Whether a pod of Longhorn's manager is ready on it; undefined: it is not known. */
  readonly hasManager: boolean | undefined
}

/** A view comes out of anything; what is wrong with the object comes with it. */
export function parseLonghornNode(
  node: LonghornNode,
  around: NodeSurroundings,
): { readonly view: LonghornNodeView; readonly unreadable: readonly UnreadableObject[] } {
  const { name } = node.metadata
  const see = new Reading()
  const spec = see.fields(node.spec, 'spec')
  const status = see.fields(node.status, 'status')
  const diskSpecs = see.fields(spec['disks'], 'spec.disks')
  const diskStatus = see.fields(status['diskStatus'], 'status.diskStatus')
  const disks = Object.keys(diskSpecs)
    .sort()
    .flatMap((key): DiskView[] => {
      const uuid = see.text(see.fields(diskStatus[key], `status.diskStatus.${key}`)['diskUUID'], `disk ${key}`)
      const disk = see.fields(diskSpecs[key], `spec.disks.${key}`)
      const isEvictionAsked = see.flag(disk['evictionRequested'], `spec.disks.${key}.evictionRequested`)
      const allowScheduling = see.flag(disk['allowScheduling'], `spec.disks.${key}.allowScheduling`)
      const tags = tagsOf(disk['tags'])
      const room = roomOf(disk, diskStatus[key])
      const known = { ...(tags === undefined ? {} : { tags }), ...(room === undefined ? {} : { room }) }
      return uuid === '' ? [] : [{ name: key, uuid, isEvictionAsked, allowScheduling, ...known }]
    })
  const underWay = around.disruptions.filter((disruption) => isFor(disruption, name))
  const moving = parseMovingRecord(node.metadata.annotations?.[movingAnnotation])
  const closing = around.kubeNode === undefined ? undefined : closingOf(around.kubeNode)
  const ownCordon = around.kubeNode === undefined ? undefined : ownCordonOf(around.kubeNode)
  const tags = tagsOf(spec['tags'])
  const managerPod = managerPodOf(node, around.hasManager)
  const cordonedSinceMs = cordonedSinceOf(node, around.kubeNode)
  const kubernetes = kubernetesOf(node, around)
  const view: LonghornNodeView = {
    name,
    kubernetes,
    ...(kubernetes === 'ready' && isBlipping(around.kubeNode) ? { isBlipping: true } : {}),
    isCordoned: closing !== undefined,
    ...(closing === undefined ? {} : { closing }),
    ...(ownCordon === undefined ? {} : { ownCordon }),
    isDraining: isDrainSeen(around.kubeNode) || underWay.some(isAsking),
    intent: intentOf(underWay),
    isEvictionAsked: see.flag(spec['evictionRequested'], 'spec.evictionRequested'),
    isAutoEvicting: see.flag(status['autoEvicting'], 'status.autoEvicting'),
    disks,
    takesReplicas: spec['allowScheduling'] !== false && conditionOf(node, 'Schedulable')?.status !== 'False',
    ...(tags === undefined ? {} : { tags }),
    ...(managerPod === undefined ? {} : { managerPod }),
    ...(cordonedSinceMs === undefined ? {} : { cordonedSinceMs }),
    ...(moving === undefined ? {} : { moving }),
  }
  return { view, unreadable: see.why === undefined ? [] : [unreadable(`node/${name}`, see.why, name)] }
}

/** For people alone, so what is not what it should be is only not known. */
function roomOf(spec: unknown, status: unknown): DiskRoom | undefined {
  const see = new Reading()
  const { storageReserved } = see.fields(spec, '')
  const fields = see.fields(status, '')
  const figures = ['storageMaximum', 'storageAvailable', 'storageScheduled'].map((field) => fields[field])
  if (figures.some((figure) => figure === undefined || figure === null)) return undefined
  const [maximum = 0, available = 0, scheduled = 0] = figures.map((figure) => see.count(figure, 'a figure'))
  const reserved = see.count(storageReserved, 'storageReserved')
  if (see.why !== undefined || maximum === 0) return undefined
  const isSchedulable = conditionOf({ status: fields }, 'Schedulable')?.status !== 'False'
  return { isSchedulable, maximum, available, scheduled, reserved }
}

function tagsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((tag) => typeof tag === 'string') ? (value as string[]) : undefined
}

/** Longhorn's own word, or what its pods show. */
function managerPodOf(node: LonghornNode, hasManager: boolean | undefined): LonghornNodeView['managerPod'] {
  const own = conditionOf(node, 'Ready')
  const isReportedAway = own?.reason === 'ManagerPodDown' || own?.reason === 'ManagerPodMissing'
  if (own?.status === 'False' && isReportedAway) return 'away'
  return hasManager === undefined ? undefined : hasManager ? 'ready' : 'away'
}

/** By the taint that Kubernetes adds, and by the condition that Longhorn sets when it sees the cordon: the later of both. */
function cordonedSinceOf(node: LonghornNode, kubeNode: Node | undefined): number | undefined {
  const closing = kubeNode === undefined ? undefined : closingOf(kubeNode)
  if (closing?.isCordoned !== true) return undefined
  const own = conditionOf(node, 'Schedulable')
  const isSeen = own?.status === 'False' && own.reason === 'KubernetesNodeCordoned'
  const taints = closing.unreadable === undefined ? (kubeNode?.spec?.taints ?? []) : []
  const taint = taints.find(({ key }) => key === cordonTaint)
  const times = [isSeen ? own.lastTransitionTime : undefined, taint?.timeAdded]
    .map((time) => parseRfc3339(String(time ?? '')))
    .filter((time) => time !== undefined)
  return times.length === 0 ? undefined : Math.max(...times)
}

/** Whether the answer about a node depends on the time, and must be read again even if nothing changed. */
export function isBlipping(kubeNode: Node | undefined): boolean {
  return kubeNode !== undefined && conditionOf(kubeNode, 'Ready')?.status !== 'True'
}

function kubernetesOf(node: LonghornNode, { kubeNode, nowMs }: NodeSurroundings): LonghornNodeView['kubernetes'] {
  if (kubeNode === undefined) return 'absent'
  const own = conditionOf(node, 'Ready')
  const isReportedDown = own?.reason === 'KubernetesNodeGone' || own?.reason === 'KubernetesNodeNotReady'
  if (own?.status === 'False' && isReportedDown) return 'silent'
  const ready = conditionOf(kubeNode, 'Ready')
  if (ready?.status === 'True') return 'ready'
  const sinceMs = parseRfc3339(String(ready?.lastTransitionTime ?? ''))
  return sinceMs !== undefined && nowMs - sinceMs < blipMs ? 'ready' : 'silent'
}

/** Reads a condition of an object that may hold anything. */
function conditionOf(object: { readonly status?: unknown }, type: string): Condition | undefined {
  const { conditions } = new Reading().fields(object.status, 'status')
  const list = Array.isArray(conditions) ? (conditions as readonly (Condition | null)[]) : []
  return list.find((condition) => condition?.type === type) ?? undefined
}

/** The condition outlives a drain that was briefly given up; a node that is open again is not drained. */
function isDrainSeen(kubeNode: Node | undefined): boolean {
  return (
    kubeNode !== undefined && isClosedToPods(kubeNode) && conditionOf(kubeNode, 'DrainInProgress')?.status === 'True'
  )
}

/** Until it is over: a node that is back but still cordoned must not lose its replicas now. */
function isFor({ spec, status }: NodeDisruption, node: string): boolean {
  return spec?.nodeName === node && status?.phase !== 'Completed' && status?.phase !== 'Rejected'
}

function isAsking({ status, metadata }: NodeDisruption): boolean {
  return status?.phase !== 'Recovering' && metadata.deletionTimestamp === undefined
}

/** Where requests differ, the one that does not bring the data back counts. */
function intentOf(underWay: readonly NodeDisruption[]): LonghornNodeView['intent'] {
  const intents = new Set(underWay.map(({ spec }) => spec.intent ?? 'Reboot'))
  return (['Remove', 'Replace', 'Reboot'] as const).find((intent) => intents.has(intent))
}
