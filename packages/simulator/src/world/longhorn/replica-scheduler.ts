import type { LonghornDataEngine } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'

export interface PlacementDisk {
  readonly uuid: string
  readonly diskType: 'filesystem' | 'block'
  readonly tags: readonly string[]
  /** Allows scheduling, nobody asked for its eviction, and it is found schedulable. */
  readonly isOpen: boolean
  readonly available: number
  readonly maximum: number
  readonly reserved: number
  readonly scheduled: number
}

export interface PlacementNode {
  readonly name: string
  readonly zone: string
  readonly tags: readonly string[]
  /** Ready, schedulable, allows scheduling. Only such nodes count as used. */
  readonly isOpen: boolean
  /** Its instance manager runs, and the engine image is there: a replica can start. */
  readonly canStart: boolean
  readonly disks: readonly PlacementDisk[]
}

/** A replica that the volume has already. */
export interface PlacedReplica {
  readonly node: string
  readonly diskUuid: string
  readonly isEvicting: boolean
  readonly isFailed: boolean
  /** Failed, and may still come back where it is. */
  readonly isReusable: boolean
}

export interface PlacementRequest {
  readonly sizeBytes: number
  readonly actualBytes: number
  readonly dataEngine: LonghornDataEngine
  readonly nodeSelector: readonly string[]
  readonly diskSelector: readonly string[]
  readonly isNodeSoft: boolean
  readonly isZoneSoft: boolean
  readonly isDiskSoft: boolean
  /** No other node will do. */
  readonly hardNode?: string
  /** Nor will nodes that are not among these. */
  readonly onlyOn?: readonly string[]
  /** Nor will disks that are not among these: a linked clone lives beside its source. */
  readonly onlyDisks?: readonly string[]
  /** Tried before all others. */
  readonly preferredNode?: string
  /** A replica that may come back no longer keeps its place: the time to wait for it is over. */
  readonly ignoresReusable: boolean
  readonly minimalAvailablePercent: number
  readonly overProvisioningPercent: number
}

export type Placement =
  | { readonly isPlaced: true; readonly node: string; readonly diskUuid: string }
  | { readonly isPlaced: false; readonly reasons: readonly string[] }

interface Candidate {
  readonly node: PlacementNode
  readonly disk: PlacementDisk
}

const reason = {
  nodes: 'nodes are unavailable',
  disks: 'disks are unavailable',
  storage: 'insufficient storage',
  tags: 'tags not fulfilled',
  source: 'linked clone replica cannot be satisfied',
  hardAffinity: 'hard affinity cannot be satisfied',
  diskAffinity: 'no free disk under hard disk anti-affinity',
}

/**
 * Where a new replica of a volume goes.
 *
 * Guarantees: the same answer for the same facts in whatever order they are listed.
 */
export function placeReplica(facts: {
  readonly request: PlacementRequest
  readonly nodes: readonly PlacementNode[]
  readonly replicas: readonly PlacedReplica[]
}): Placement {
  const { request } = facts
  const open = facts.nodes.filter((node) => node.isOpen && node.canStart).sort(byName)
  const reasons = new Set<string>()
  if (open.length === 0) return { isPlaced: false, reasons: [reason.nodes] }
  const { hardNode, onlyOn = hardNode === undefined ? undefined : [hardNode] } = request
  const near = open.filter(({ name }) => onlyOn === undefined || onlyOn.includes(name))
  if (near.length === 0) return { isPlaced: false, reasons: [reason.hardAffinity] }
  const tagged = near.filter(({ tags }) => hasAll(tags, request.nodeSelector))
  if (tagged.length === 0) return { isPlaced: false, reasons: [reason.tags] }

  const preferred = tagged.filter(({ name }) => name === request.preferredNode)
  for (const nodes of preferred.length > 0 ? [preferred, tagged] : [tagged]) {
    for (const tier of tiersOf(nodes, facts)) {
      const candidates = freestDisks(fittingDisks(tier, request, reasons), facts, reasons)
      const best = pickBalanced(candidates, facts)
      if (best !== undefined) return { isPlaced: true, node: best.node.name, diskUuid: best.disk.uuid }
    }
  }
  return { isPlaced: false, reasons: reasons.size === 0 ? [reason.nodes] : [...reasons].sort() }
}

/** The nodes to try, the best ones first. */
function tiersOf(
  nodes: readonly PlacementNode[],
  { request, nodes: all, replicas }: Parameters<typeof placeReplica>[0],
): PlacementNode[][] {
  const openByName = new Map(all.filter(({ isOpen }) => isOpen).map((node) => [node.name, node]))
  const counted = replicas.filter((replica) => openByName.has(replica.node) && countsAsUse(replica, request))
  const zoneOf = (node: string) => openByName.get(node)?.zone ?? ''
  const usedNodes = new Set(counted.map(({ node }) => node))
  const usedZones = new Set(counted.map(({ node }) => zoneOf(node)))
  const keptNodes = new Set(counted.filter(({ isEvicting }) => !isEvicting).map(({ node }) => node))
  const keptZones = new Set([...keptNodes].map(zoneOf))
  const isOnlyEvicting = ({ name }: PlacementNode) => usedNodes.has(name) && !keptNodes.has(name)

  const inFreshZone = nodes.filter(({ name, zone }) => !usedZones.has(zone) && !usedNodes.has(name))
  const unused = nodes.filter(({ name }) => !usedNodes.has(name))
  if (!request.isZoneSoft)
    return [inFreshZone, nodes.filter((node) => isOnlyEvicting(node) && !keptZones.has(node.zone))]
  if (!request.isNodeSoft) return [inFreshZone, unused, nodes.filter(isOnlyEvicting)]
  return [inFreshZone, unused, nodes.filter(({ name }) => usedNodes.has(name))]
}

function countsAsUse({ isFailed, isReusable }: PlacedReplica, { ignoresReusable }: PlacementRequest): boolean {
  return !isFailed || (isReusable && !ignoresReusable)
}

function fittingDisks(nodes: readonly PlacementNode[], request: PlacementRequest, reasons: Set<string>): Candidate[] {
  const wantedType = request.dataEngine === 'v2' ? 'block' : 'filesystem'
  return nodes.flatMap((node) =>
    [...node.disks].sort(byUuid).flatMap((disk) => {
      if (request.onlyDisks?.includes(disk.uuid) === false) reasons.add(reason.source)
      else if (!disk.isOpen || disk.diskType !== wantedType) reasons.add(reason.disks)
      else if (!hasSpace(disk, request)) reasons.add(reason.storage)
      else if (!hasAll(disk.tags, request.diskSelector)) reasons.add(reason.tags)
      else return [{ node, disk }]
      return []
    }),
  )
}

/** Disks without a replica of this volume; the others only where disks may be shared. */
function freestDisks(
  candidates: readonly Candidate[],
  { request, replicas }: Parameters<typeof placeReplica>[0],
  reasons: Set<string>,
): readonly Candidate[] {
  const used = new Set(replicas.filter((replica) => countsAsUse(replica, request)).map(({ diskUuid }) => diskUuid))
  const free = candidates.filter(({ disk }) => !used.has(disk.uuid))
  if (free.length > 0) return free
  if (request.isDiskSoft) return candidates
  if (candidates.length > 0) reasons.add(reason.diskAffinity)
  return []
}

function hasSpace(disk: PlacementDisk, request: PlacementRequest): boolean {
  const { available, maximum, reserved, scheduled } = disk
  return (
    available - request.actualBytes > (maximum * request.minimalAvailablePercent) / 100 &&
    scheduled + request.sizeBytes <= ((maximum - reserved) * request.overProvisioningPercent) / 100
  )
}

/** The node that leaves the usable room of all nodes most even, then the same among its disks. */
function pickBalanced(
  candidates: readonly Candidate[],
  { request, nodes }: Parameters<typeof placeReplica>[0],
): Candidate | undefined {
  const roomOf = new Map(nodes.map((node) => [node.name, sum(node.disks.map(usable))]))
  const names = [...new Set(candidates.map(({ node }) => node.name))].sort()
  const bestNode = least(names, (name) => unevenness(roomOf, name, request.sizeBytes))
  const onNode = candidates.filter(({ node }) => node.name === bestNode)
  const diskRooms = new Map(onNode[0]?.node.disks.map((disk) => [disk.uuid, usable(disk)]))
  return least(onNode, ({ disk }) => unevenness(diskRooms, disk.uuid, request.sizeBytes))
}

function usable({ available, reserved, scheduled }: PlacementDisk): number {
  return Math.max(0, available - reserved - scheduled)
}

/** How far the rooms lie apart, measured by their mean, once one of them holds so much more. */
function unevenness(rooms: ReadonlyMap<string, number>, chosen: string, bytes: number): number {
  const after = [...rooms].map(([name, room]) => (name === chosen ? Math.max(0, room - bytes) : room))
  const mean = sum(after) / after.length
  return mean === 0 ? 0 : (Math.max(...after) - Math.min(...after)) / mean
}

/** The first of those with the smallest cost. */
function least<T>(items: readonly T[], costOf: (item: T) => number): T | undefined {
  let best: { readonly item: T; readonly cost: number } | undefined
  for (const item of items) {
    const cost = costOf(item)
    if (best === undefined || cost < best.cost) best = { item, cost }
  }
  return best?.item
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

function hasAll(tags: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((tag) => tags.includes(tag))
}

function byName(a: PlacementNode, b: PlacementNode): number {
  return a.name < b.name ? -1 : 1
}

function byUuid(a: PlacementDisk, b: PlacementDisk): number {
  return a.uuid < b.uuid ? -1 : 1
}
