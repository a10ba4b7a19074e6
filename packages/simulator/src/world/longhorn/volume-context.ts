import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import {
  type LonghornReplica,
  type LonghornVolume,
  longhornReplicas,
  longhornVolumeAttachments,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { ActorTools } from '../actor.ts'
import { compareText } from '../pod-facts.ts'
import type { Tickets } from './attachment-tickets.ts'
import type { DataPlane } from './data-plane.ts'
import { isGoing } from './finalizer.ts'
import { instanceManagerName } from './instance-manager-name.ts'
import { isLinkedClone } from './linked-clone.ts'
import type { LonghornDescription, LonghornTimings } from './longhorn-description.ts'
import { mayReuse, type PlacementFactsPorts, placementNodes } from './placement-facts.ts'
import type { ProcessHosts } from './process-hosts.ts'
import type { SettingsReader } from './settings.ts'
import { replicaFacts } from './volume-facts.ts'
import type { VolumeFacts } from './volume-health.ts'

/** What the controller of volumes works with. */
export interface VolumePorts extends PlacementFactsPorts {
  readonly tools: ActorTools
  readonly description: LonghornDescription
  readonly timings: LonghornTimings
  readonly settings: SettingsReader
  readonly data: DataPlane
  readonly hosts: ProcessHosts
  readonly podsUsing: (volume: string) => readonly Pod[]
}

/** What it remembers of one volume between two reconciles. */
export interface VolumeNotes {
  state: 'creating' | 'detached' | 'attaching' | 'attached' | 'detaching'
  node: string | undefined
  sinceMs: number
  /** How many of the replicas that it begins with were made. */
  firstCount: number
  wasAttached: boolean
  /** Why no place was found for a replica that is wanted. */
  unplacedBecause: readonly string[]
  /** When a replica that failed may be tried again, and how long it rests the next time. */
  readonly rests: Map<string, { readonly untilMs: number; readonly nextMs: number }>
  /** The engine image it runs with. */
  image: string
  /** When all processes of another engine image were started. */
  upgradeSinceMs: number | undefined
}

/** One reconcile of one volume. */
export interface VolumeContext {
  readonly ports: VolumePorts
  readonly volume: LonghornVolume
  readonly notes: VolumeNotes
  /** Reconcile again after this time. */
  readonly again: (inMs: number) => void
}

export function newNotes(volume: LonghornVolume): VolumeNotes {
  const isNew = volume.status?.state === undefined || volume.status.state === 'creating'
  return {
    state: isNew ? 'creating' : 'detached',
    node: undefined,
    sinceMs: 0,
    firstCount: 0,
    wasAttached: false,
    unplacedBecause: [],
    rests: new Map(),
    image: volume.status?.currentImage ?? volume.spec?.image ?? '',
    upgradeSinceMs: undefined,
  }
}

/** Those that were deleted and wait for Longhorn to let them go. */
export function goingReplicasOf(context: VolumeContext): LonghornReplica[] {
  return allReplicasOf(context).filter(isGoing)
}

function allReplicasOf({ ports, volume }: VolumeContext): LonghornReplica[] {
  const index = ports.tools.views.of(longhornReplicas).indexBy('volume', ({ spec }) => [spec?.volumeName ?? ''])
  return [...index(volume.metadata.name)].sort((a, b) => compareText(a.metadata.name, b.metadata.name))
}

/** As they are held now, but for those that are going, in the order in which this controller goes through them. */
export function replicasOf(context: VolumeContext): LonghornReplica[] {
  const { tools, description } = context.ports
  const found = allReplicasOf(context).filter((replica) => !isGoing(replica))
  if (description.drawnOrder === true) {
    for (let last = found.length - 1; last > 0; last -= 1) {
      const drawn = (tools.random.next() * (last + 1)) | 0
      const moved = found[last] as LonghornReplica
      found[last] = found[drawn] as LonghornReplica
      found[drawn] = moved
    }
  }
  return found
}

export function ticketsOf({ ports, volume }: VolumeContext): Tickets {
  const { namespace = '', name } = volume.metadata
  const attachment = ports.tools.views.of(longhornVolumeAttachments).get(`${namespace}/${name}`)
  return attachment?.spec?.attachmentTickets ?? {}
}

/** The instance manager in which processes of this volume start on that node. */
export function hostFor({ ports, volume }: VolumeContext, node: string): string {
  return instanceManagerName({ node, image: ports.image(), dataEngine: volume.spec?.dataEngine ?? 'v1' })
}

export function wantedCountOf({ volume }: Pick<VolumeContext, 'volume'>): number {
  return volume.spec?.numberOfReplicas ?? 3
}

/** The share of it that holds data from the start. */
export function filledShareOf({ ports, volume }: VolumeContext): number {
  return ports.description.volumes?.find(({ name }) => name === volume.metadata.name)?.filled ?? 0
}

export function factsOf(context: VolumeContext): VolumeFacts {
  const { ports, volume, notes } = context
  const { name } = volume.metadata
  const modes = ports.data.modesOf(name)
  const nodes = new Map(placementNodes(ports, volume).map((node) => [node.name, node]))
  return {
    isAttached: notes.state === 'attached',
    mayReuse: mayReuse(ports, volume),
    isLinkedClone: isLinkedClone(volume),
    isMigrating: (volume.spec?.migrationNodeID ?? '') !== '' || isUpgrading(context),
    wantedCount: wantedCountOf(context),
    localNode: volume.spec?.dataLocality === 'best-effort' ? notes.node : undefined,
    balance: balanceOf(ports.settings.text('replica-auto-balance')),
    replicas: replicasOf(context).map((replica) => {
      const node = nodes.get(replica.spec?.nodeID ?? '')
      const disk = node?.disks.find(({ uuid }) => uuid === replica.spec?.diskID)
      const canRun = node?.isOpen === true && node.canStart && disk?.isOpen === true
      return replicaFacts(replica, { mode: modes.get(replica.metadata.name), canRun, zone: node?.zone ?? '' })
    }),
  }
}

/** Its replicas have doubles, or are about to. */
export function isUpgrading({ volume, notes }: VolumeContext): boolean {
  return notes.image !== (volume.spec?.image ?? '')
}

function balanceOf(text: string): VolumeFacts['balance'] {
  return text === 'least-effort' || text === 'best-effort' ? text : 'disabled'
}

export async function writeReplica(
  { ports }: VolumeContext,
  replica: LonghornReplica,
  changes: Partial<NonNullable<LonghornReplica['spec']>>,
): Promise<void> {
  const { tools } = ports
  const written = await tools.api.update(longhornReplicas, { ...replica, spec: { ...replica.spec, ...changes } })
  tools.views.of(longhornReplicas).record(written)
}

/** Where a replica can be neither made nor deleted, the volume says so. */
export async function recordFailure<T>(
  { ports, volume }: VolumeContext,
  verb: string,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!hasReason(error, 'Conflict', 'NotFound')) {
      const because = error instanceof Error ? error.message : String(error)
      ports.tools.recorder.record(volume, 'Warning', 'EvictionFailed', `Failed to ${verb} a replica: ${because}`)
    }
    throw error
  }
}
