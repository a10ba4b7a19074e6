import type { LonghornIndex } from './longhorn-index.ts'
import { hasSameDirectory, isHealthy, type SettledSoFar, weaknessOf } from './protection.ts'
import type { ReplicaView } from './snapshot.ts'

const nobody: ReadonlySet<string> = new Set()

export interface SurplusAnswer {
  readonly remove: readonly string[]
  /** Why copies that are too many stay for now. */
  readonly kept: string | undefined
}

const nothing: SurplusAnswer = { remove: [], kept: undefined }

/**
 * Healthy copies beyond the number a volume wants, the newest first; none unless the settings ask for their removal.
 *
 * Guarantees: as many protected copies as the volume wants are left. A replica that shares its data with another is never
 * among them: to delete it would delete the data of both.
 * Only where nothing moves: every copy is on an open node and runs, none is flagged, none is failed, incomplete or going.
 * Fails closed: an engine upgrade or a migration that is under way, or cannot be ruled out, keeps all.
 */
export function decideSurplus(index: LonghornIndex, volumeName: string): SurplusAnswer {
  const volume = index.volumes.get(volumeName)
  const copies = index.copiesOf(volumeName)
  if (index.settings.surplus !== 'remove' || volume === undefined) return nothing
  const wanted = volume.numberOfReplicas
  if (!(wanted >= 1) || copies.length <= wanted) return nothing
  const why = volume.unsettled ?? whySharing(index.replicasOf(volumeName))
  if (why !== undefined) {
    const kept = `Volume ${volumeName} has ${copies.length} copies and wants ${wanted}. None is removed now: ${why}.`
    return { remove: [], kept }
  }
  if (volume.state !== 'attached' || volume.robustness !== 'healthy') return nothing
  if (!copies.every((copy) => isHealthy(copy) && !copy.isStopped && !isMoving(index, copy))) return nothing
  const so: SettledSoFar = { index, released: nobody, planned: nobody, surplus: nobody }
  const healthy = copies.filter((copy) => weaknessOf(so, copy) === undefined)
  // Copies are in the order of their names: of one age, the last of them goes first.
  const removable = healthy
    .filter(({ node }) => node !== volume.attachedTo)
    .reverse()
    .sort(byAge)
  return { remove: removable.slice(0, Math.max(0, healthy.length - wanted)).map(({ name }) => name), kept: undefined }
}

/** Why two of them may be one and the same data. */
function whySharing(replicas: readonly ReplicaView[]): string | undefined {
  for (const [at, replica] of replicas.entries()) {
    if (!replica.isActive) return `replica ${replica.name} is not active`
    if (replica.directory === '') return `the data directory of replica ${replica.name} is not known`
    const other = replicas.slice(at + 1).find((each) => each.node === replica.node && hasSameDirectory(each, replica))
    if (other !== undefined) return `replicas ${replica.name} and ${other.name} share a data directory`
  }
  return undefined
}

function isMoving(index: LonghornIndex, copy: ReplicaView): boolean {
  const node = index.nodes.get(copy.node)
  return (
    copy.isEvictionRequested ||
    node === undefined ||
    node.isCordoned ||
    node.isDraining ||
    node.isEvictionAsked ||
    node.disks.some(({ uuid, isEvictionAsked }) => isEvictionAsked && uuid === copy.diskUuid)
  )
}

/** The youngest first. RFC 3339 in one zone sorts as text. */
function byAge(left: ReplicaView, right: ReplicaView): number {
  if (left.healthyAt === right.healthyAt) return 0
  return left.healthyAt < right.healthyAt ? 1 : -1
}
