import { isBound } from './bytes-left.ts'
import { evictionTicketOf } from './eviction-ticket.ts'
import type { LonghornIndex } from './longhorn-index.ts'
import { isHealthy, isUnused } from './protection.ts'
import type { AttachmentTicketView, ReplicaView, VolumeView } from './snapshot.ts'

/** How far the move of a replica is, by its flag and the copies that are there. Whether it should move is not asked here. */
export type MoveState =
  /** Its flag is down: Longhorn has not begun. */
  | { readonly is: 'not-begun' }
  /** Its flag is up, and there is nothing in its place. */
  | { readonly is: 'waiting'; readonly for: MoveWait }
  /** Another copy is being built. */
  | { readonly is: 'copying'; readonly to: ReplicaView }
  /** As many whole copies as the volume wants stay elsewhere. */
  | { readonly is: 'copied' }

/** What Longhorn waits for before it makes a copy. */
export type MoveWait =
  /** Nothing that is named anywhere. */
  | { readonly cause: 'unknown' }
  /** It makes no copies at all. */
  | { readonly cause: 'rebuilds-off' }
  /** The volume migrates, or its engine is upgraded. */
  | { readonly cause: 'changing'; readonly what: string }
  /** Only an attached volume is copied. `ticket`: who attaches it for that. */
  | { readonly cause: 'detached'; readonly ticket: AttachmentTicketView | undefined }
  | { readonly cause: 'attaching' }
  /** One copy of a volume is built at a time. */
  | { readonly cause: 'other-rebuild' }
  /** A failed copy may come back, for which Longhorn waits a while. */
  | { readonly cause: 'failed-copy'; readonly copy: ReplicaView }

/**
 * Guarantees: a replica is called copied or being copied only where its flag is up and the other copy is there. What is wanted, or
 * what a decision asks for, counts for nothing.
 */
export function moveStateOf(index: LonghornIndex, replica: ReplicaView): MoveState {
  if (!replica.isEvictionRequested) return { is: 'not-begun' }
  const volume = index.volumes.get(replica.volume)
  const staying = index
    .copiesOf(replica.volume)
    .filter((copy) => copy !== replica && copy.node !== '' && !copy.isEvictionRequested && !copy.isBeingDeleted)
  const whole = staying.filter(isHealthy)
  if (replica.isBeingDeleted || whole.length >= (volume?.numberOfReplicas ?? Number.POSITIVE_INFINITY))
    return { is: 'copied' }
  // The first by name: copies are in that order.
  const built = volume?.state === 'attached' ? staying.find(isUnused) : undefined
  if (built !== undefined) return { is: 'copying', to: built }
  return { is: 'waiting', for: waitOf(index, volume) }
}

/** What is known of what Longhorn waits for, the most lasting first. */
function waitOf(index: LonghornIndex, volume: VolumeView | undefined): MoveWait {
  if (index.settings.isRebuildOff === true) return { cause: 'rebuilds-off' }
  if (volume === undefined) return { cause: 'unknown' }
  if (volume.changing !== undefined) return { cause: 'changing', what: volume.changing }
  if (volume.state === 'detached') return { cause: 'detached', ticket: evictionTicketOf(volume) }
  if (volume.state === 'moving') return { cause: 'attaching' }
  if (volume.rebuiltShare !== undefined) return { cause: 'other-rebuild' }
  const copy = volume.robustness === 'degraded' ? index.copiesOf(volume.name).find(isFailed) : undefined
  return copy === undefined ? { cause: 'unknown' } : { cause: 'failed-copy', copy }
}

function isFailed({ failedAt, isBeingDeleted }: ReplicaView): boolean {
  return failedAt !== '' && !isBeingDeleted
}

/** Whether Longhorn goes on by itself once what it waits for has ended. */
export function endsByItself({ cause }: MoveWait): boolean {
  return cause === 'changing' || cause === 'other-rebuild' || cause === 'failed-copy'
}

/** Replicas of a node that move off it or should, but for those that never do. */
export function movingReplicas(
  index: LonghornIndex,
  node: string,
  wanted: ReadonlySet<string>,
): readonly ReplicaView[] {
  return index.replicasOn(node).filter((replica) => {
    if (!replica.isActive || !(replica.isEvictionRequested || wanted.has(replica.name))) return false
    const volume = index.volumes.get(replica.volume)
    return volume === undefined || !isBound(volume)
  })
}
