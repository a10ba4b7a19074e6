import { bytesText } from './bytes-text.ts'
import type { LonghornIndex } from './longhorn-index.ts'
import type { DiskView, LonghornNodeView, ReplicaView, VolumeView } from './snapshot.ts'

/**
 * Why no node takes another copy of a volume, node by node, by the rules of Longhorn's scheduler. Undefined: one may take it.
 *
 * Guarantees: what is not known, and rules that are not judged here (zones, engine images, backing images), count as a place, so
 * that a place is never denied that there is.
 *
 * @param leaving a node that is to be drained: its copy goes, and it takes none
 */
export function whyNoPlace(index: LonghornIndex, volume: VolumeView, leaving?: string): string | undefined {
  const live = index.copiesOf(volume.name).filter(({ failedAt, isBeingDeleted }) => failedAt === '' && !isBeingDeleted)
  const staying = live.filter(({ isEvictionRequested, node }) => !isEvictionRequested && node !== leaving)
  if (staying.length >= volume.numberOfReplicas) return undefined
  const reasons: string[] = []
  for (const node of [...index.nodes.values()].sort((left, right) => (left.name < right.name ? -1 : 1))) {
    const why = node.name === leaving ? 'is to be drained' : whyNotOn(index, node, { volume, staying })
    if (why === undefined) return undefined
    reasons.push(`${node.name} ${why}`)
  }
  if (reasons.length === 0) return undefined
  const more = reasons.length - mostNamed
  return [...reasons.slice(0, mostNamed), ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

const mostNamed = 5

interface Wanted {
  readonly volume: VolumeView
  readonly staying: readonly ReplicaView[]
}

function whyNotOn(index: LonghornIndex, node: LonghornNodeView, { volume, staying }: Wanted): string | undefined {
  if (node.kubernetes !== 'ready') return node.kubernetes === 'absent' ? 'is gone' : 'does not answer'
  if (node.takesReplicas === false) return node.isCordoned ? 'is cordoned' : 'takes no replicas'
  const tag = missingTag(volume.nodeTags, node.tags)
  if (tag !== undefined) return `lacks the tag ${tag}`
  if (!hasManager(index, node.name, volume)) return 'has no running instance manager'
  if (volume.sharesNodes !== true && staying.some((copy) => copy.node === node.name)) return 'has a copy already'
  const whys = node.disks.map((disk) => whyNotOnDisk(index, disk, volume))
  if (whys.includes(undefined)) return undefined
  return whys.length === 0 ? 'has no disk' : `has no disk for it (${whys.join('; ')})`
}

function hasManager(index: LonghornIndex, node: string, { dataEngine }: VolumeView): boolean {
  return index
    .instanceManagersOn(node)
    .some((manager) => manager.isRunning && (dataEngine === undefined || manager.dataEngine === dataEngine))
}

function whyNotOnDisk({ settings }: LonghornIndex, disk: DiskView, volume: VolumeView): string | undefined {
  const { name, room } = disk
  if (disk.isEvictionAsked) return `${name} is being emptied`
  if (!disk.allowScheduling) return `${name} takes no replicas`
  const tag = missingTag(volume.diskTags, disk.tags)
  if (tag !== undefined) return `${name} lacks the tag ${tag}`
  if (room?.isSchedulable === false) return `${name} is not schedulable`
  if (room === undefined || volume.sizeBytes === undefined) return undefined
  const { overProvisioning = 100, minimalAvailable = 25 } = settings.room ?? {}
  const mayBeScheduled = ((room.maximum - room.reserved) * overProvisioning) / 100 - room.scheduled
  if (volume.sizeBytes > mayBeScheduled) {
    return `${name} has ${bytesText(Math.max(0, mayBeScheduled))} to schedule, the volume is ${bytesText(volume.sizeBytes)}`
  }
  const mayBeUsed = room.available - (room.maximum * minimalAvailable) / 100
  if (volume.actualBytes >= mayBeUsed) {
    return `${name} has ${bytesText(Math.max(0, mayBeUsed))} to use, the volume has ${bytesText(volume.actualBytes)} of data`
  }
  return undefined
}

function missingTag(wanted: readonly string[] | undefined, tags: readonly string[] | undefined): string | undefined {
  return tags === undefined ? undefined : wanted?.find((tag) => !tags.includes(tag))
}
