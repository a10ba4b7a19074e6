import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { closingOf, closingText, cordonTaint, type NodeClosing } from '../../../shared/closed-node.ts'
import { type HostnamedNode, hostnameOf, type NodeOfHostname, pinnedHostname } from '../../../shared/node-hostnames.ts'
import type { Observed } from '../../../shared/observed.ts'
import { needsUpdate, osdImage } from './osd-deployment.ts'
import { isPodBefore, isRestartedFor } from './restart-request.ts'
import type { UpdatableOsd } from './snapshot.ts'
import { parseUpdateMark } from './update-mark.ts'
import { whyLeftAlone } from './why-left-alone.ts'

/** On a Node: the class of its disks, as Rook reads it. */
export const deviceClassLabel = 'osd.rook.io/device-class'

export interface UpdateObjects {
  readonly deployments: readonly Deployment[]
  readonly pods: readonly Pod[]
  readonly cluster: CephCluster
  /** Pods that are older are to be restarted; undefined when nobody asked. */
  readonly restartAskedMs?: number | undefined
  /** Rook writes the Deployments: then nothing but such a restart is ours. */
  readonly isBesideRook?: boolean
  /** Absent: nodes are not read. */
  readonly nodeOf?: NodeOfHostname<OsdNode>
}

/** What counts of a node with OSDs. */
export interface OsdNode extends HostnamedNode {
  /** The device class that the node names for its disks. */
  readonly deviceClass: string | undefined
  /** Why it is closed to new pods; undefined while it is open. */
  readonly closing: NodeClosing | undefined
}

export function parseOsdNode(node: Node): OsdNode {
  const { metadata } = node
  return {
    name: metadata.name,
    hostname: hostnameOf(node),
    deviceClass: metadata.labels?.[deviceClassLabel],
    closing: closingOf(node),
  }
}

export interface ParsedUpdateObjects {
  /** In the order of their ids. */
  readonly osds: readonly UpdatableOsd[]
  /** Deployments that are called OSDs and do not say which, and those of OSDs that cannot be understood. */
  readonly problems: readonly { readonly object: string; readonly problem: string }[]
  /** Whether another image is wanted than some OSD has. */
  readonly isUpgrade: boolean
}

/**
 * The OSDs of one cluster from their Deployments and pods; what belongs to others is passed over.
 *
 * Guarantees: a Deployment that cannot be understood is a problem of its own and of no other.
 */
export function parseUpdateObjects(input: UpdateObjects): ParsedUpdateObjects {
  const { cluster } = input
  const { namespace } = cluster.metadata
  const own = input.deployments.filter(
    ({ metadata }) => metadata.namespace === namespace && metadata.labels?.['app'] === 'rook-ceph-osd',
  )
  const podsById = new Map<string, Pod[]>()
  for (const pod of input.pods) {
    const id = idLabel(pod.metadata.labels)
    if (id === undefined || pod.metadata.namespace !== namespace) continue
    const others = podsById.get(id)
    if (others === undefined) podsById.set(id, [pod])
    else others.push(pod)
  }
  const problems: { object: string; problem: string }[] = []
  const byId = new Map<number, UpdatableOsd>()
  let isUpgrade = false
  for (const deployment of own) {
    const text = idLabel(deployment.metadata.labels)
    if (text === undefined || !/^\d{1,9}$/.test(text)) {
      const problem =
        text === undefined ? 'has no label ceph-osd-id' : `its label ceph-osd-id ${JSON.stringify(text)} is no OSD`
      problems.push({ object: `deployment/${deployment.metadata.name}`, problem })
      continue
    }
    const osd = parseOne(deployment, podsById.get(text) ?? [], input)
    const twin = byId.get(osd.id)
    byId.set(osd.id, twin === undefined ? osd : bothBroken(twin, osd))
    const image = osdImage(deployment)
    if (osd.leftAlone === undefined && image !== undefined && image !== (cluster.spec?.cephVersion?.image ?? image)) {
      isUpgrade = true
    }
  }
  const osds = [...byId.values()].sort((a, b) => a.id - b.id)
  for (const { deployment, problem } of osds) {
    if (problem !== undefined) problems.push({ object: `deployment/${deployment}`, problem })
  }
  return { osds, problems, isUpgrade }
}

/** Ids of all OSDs that have a Deployment. */
export function existenceList(osds: readonly Pick<UpdatableOsd, 'id'>[]): ReadonlySet<number> {
  return new Set(osds.map(({ id }) => id))
}

function parseOne(deployment: Deployment, pods: readonly Pod[], input: UpdateObjects): UpdatableOsd {
  const { cluster, restartAskedMs } = input
  const hostname = pinnedHostname(deployment)
  const node = hostname === undefined ? undefined : input.nodeOf?.(hostname)
  const mark = parseUpdateMark(deployment)
  const problem =
    osdImage(deployment) === undefined
      ? 'its Deployment has no container named osd with an image'
      : 'problem' in mark
        ? mark.problem
        : classConflict(deployment, cluster, node)
  const startedMs = 'problem' in mark ? undefined : mark.startedMs
  const isObserved = isStatusOfNow(deployment)
  const isPodReady = isObserved && isNewestReady(deployment) && (pods.length === 0 || pods.some(isServing))
  const displaced = whyNodeClosed(deployment, node)
  const nodeName = node?.known === true ? node.value.name : undefined
  const leftAlone = whyLeftAlone(deployment, cluster, nodeName) ?? whyNowhere(node) ?? displaced
  return {
    id: Number(idLabel(deployment.metadata.labels)),
    deployment: deployment.metadata.name,
    needsUpdate:
      input.isBesideRook === true
        ? pods.some((pod) => isPodBefore(pod, restartAskedMs))
        : problem === undefined && (needsUpdate(deployment, cluster) || needsRestart(deployment, pods, restartAskedMs)),
    ...(leftAlone !== undefined && { leftAlone }),
    ...(displaced !== undefined && { isNodeCordoned: true }),
    ...(problem !== undefined && { problem }),
    ...(startedMs !== undefined && { startedMs }),
    ...(startedMs !== undefined && isPodReady && isOlder(pods.filter(isServing), startedMs) && { isUnmoved: true }),
    isPodReady,
    hasStalled: isObserved && conditionOf(deployment, 'Progressing')?.reason === 'ProgressDeadlineExceeded',
  }
}

function bothBroken(one: UpdatableOsd, other: UpdatableOsd): UpdatableOsd {
  const [first, second] = [one.deployment, other.deployment].sort()
  const isPodReady = one.isPodReady && other.isPodReady
  return { ...one, isPodReady, problem: `both Deployments ${first} and ${second} say that they are this OSD` }
}

function needsRestart(deployment: Deployment, pods: readonly Pod[], askedMs: number | undefined): boolean {
  if (askedMs === undefined || isRestartedFor(deployment, askedMs)) return false
  return pods.some((pod) => isPodBefore(pod, askedMs))
}

type SeenNode = Observed<OsdNode> | undefined

/** Two places that name another class for the disks of one node: which resources its OSDs are to get is not known then. */
function classConflict(deployment: Deployment, cluster: CephCluster, node: SeenNode): string | undefined {
  const hostname = pinnedHostname(deployment)
  if (hostname === undefined || node?.known !== true) return undefined
  const { name: own, deviceClass: labelled } = node.value
  const named = cluster.spec?.storage?.nodes?.find(({ name }) => name === hostname || name === own)
  const wanted = named?.config?.['deviceClass']
  if (wanted === undefined || labelled === undefined || wanted === labelled) return undefined
  return `spec.storage.nodes says device class ${wanted} for its node ${own}, and the label ${deviceClassLabel} of the node says ${labelled}: make them the same`
}

/** Whether its node takes pods is not known then, nor whether there is one at all. */
function whyNowhere(node: SeenNode): string | undefined {
  if (node === undefined || node.known) return undefined
  return `its node is not known: ${node.why}`
}

/**
 * On a closed node an OSD finds no place until the node is open again. One that runs would freeze the update; for one that a drain
 * has just evicted the update would hold the storage, and the drain could never end.
 */
function whyNodeClosed({ spec }: Deployment, node: SeenNode): string | undefined {
  if (node?.known !== true || node.value.closing === undefined) return undefined
  const { name, closing } = node.value
  const { tolerations = [] } = spec.template.spec
  const tolerates = (taint: string) =>
    tolerations.some(
      ({ key, operator, effect = 'NoSchedule' }) =>
        (key === taint || (key === undefined && operator === 'Exists')) && effect === 'NoSchedule',
    )
  const taints = [
    ...(closing.isCordoned ? [cordonTaint] : []),
    ...(closing.taint === undefined ? [] : [closing.taint.key]),
  ]
  if (closing.unreadable === undefined && taints.every(tolerates)) return undefined
  return `its node ${name} is ${closingText(closing)}, so it could not start again: it is updated when the node is open`
}

function isStatusOfNow({ metadata: { generation = 0 }, status = {} }: Deployment): boolean {
  const { observedGeneration = 0 } = status
  return observedGeneration >= generation
}

/** By the counts of the Deployment: none but pods of its newest template, and one of them ready. */
function isNewestReady({ status = {} }: Deployment): boolean {
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0 } = status
  return readyReplicas >= 1 && updatedReplicas >= 1 && replicas <= updatedReplicas
}

function isServing(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && conditionOf(pod, 'Ready')?.status === 'True'
}

/** Pods say when they were made in whole seconds. */
function isOlder(pods: readonly Pod[], startedMs: number): boolean {
  const second = Math.floor(startedMs / 1_000) * 1_000
  const madeMs = pods.map(({ metadata }) => parseRfc3339(metadata.creationTimestamp ?? '') ?? Number.POSITIVE_INFINITY)
  return pods.length > 0 && madeMs.every((made) => made < second)
}

function idLabel(labels: Readonly<Record<string, string>> | undefined): string | undefined {
  return labels?.['ceph-osd-id'] ?? labels?.['osd']
}
