import type { LonghornIndex } from './longhorn-index.ts'
import { isHealthy, type SettledSoFar, weaknessOf } from './protection.ts'
import type { ReplicaView } from './snapshot.ts'

const nobody: ReadonlySet<string> = new Set()

/**
 * Healthy copies beyond the number a volume wants, the newest first; none unless the settings ask for their removal.
 *
 * Guarantees: as many protected copies as the volume wants are left.
 * Only where nothing moves: every copy is on an open node, none is flagged, none is failed, incomplete or going.
 */
export function surplusReplicas(index: LonghornIndex, volumeName: string): readonly string[] {
  const volume = index.volumes.get(volumeName)
  const copies = index.copiesOf(volumeName)
  if (index.settings.surplus !== 'remove' || volume === undefined) return []
  const wanted = volume.numberOfReplicas
  if (!(wanted >= 1) || copies.length <= wanted) return []
  if (volume.state !== 'attached' || volume.robustness !== 'healthy') return []
  if (!copies.every((copy) => isHealthy(copy) && !isMoving(index, copy))) return []
  const so: SettledSoFar = { index, released: nobody, planned: nobody, surplus: nobody }
  const spare = copies.filter((copy) => weaknessOf(so, copy) === undefined)
  const removable = spare.filter(({ node }) => node !== volume.attachedTo).sort(byAge)
  return removable.slice(0, Math.max(0, spare.length - wanted)).map(({ name }) => name)
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

/** The youngest first; by name where they are of one age. RFC 3339 in one zone sorts as text. */
function byAge(left: ReplicaView, right: ReplicaView): number {
  if (left.healthyAt !== right.healthyAt) return left.healthyAt < right.healthyAt ? 1 : -1
  return left.name < right.name ? 1 : -1
}
