import type { UnreadableObject } from '../../../shared/parsed.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { ReplicaBlocker } from './decision.ts'
import { evictionTicketType, isFormerTicket } from './eviction-ticket.ts'
import { explainMove } from './explain-move.ts'
import type { LonghornIndex } from './longhorn-index.ts'
import { drainPolicyLabel } from './policy.ts'
import { explainOtherCopies, type SettledSoFar } from './protection.ts'
import type { ReplicaHold } from './replica-hold.ts'
import { replicaRule } from './replica-rule.ts'
import type { InstanceManagerView, ReplicaView, VolumeView } from './snapshot.ts'

interface HeldReplica {
  readonly replica: ReplicaView
  readonly hold: ReplicaHold
  /** Whether the policy, or a user, wants it to move. */
  readonly isWanted: boolean
}

type BlockerText = Pick<ReplicaBlocker, 'reason' | 'explanation' | 'wayOut'>

export function explainEngine(index: LonghornIndex, node: string, volume: string): ReplicaBlocker {
  const view = index.volumes.get(volume)
  const by = view?.attachedBy
  const wayOut = engineWayOut(index.namespace, volume, view)
  return {
    object: `volume/${volume}`,
    volume,
    reason: 'VolumeAttached',
    explanation: `Volume ${volume} is attached to node ${node} by ${by ?? 'an unknown client'}.`,
    wayOut,
  }
}

function engineWayOut(namespace: string, name: string, view: VolumeView | undefined): string {
  const { attachedBy: by, tickets = [] } = view ?? {}
  const former = tickets.find((ticket) => isFormerTicket(ticket, name))
  if (former !== undefined && tickets.length === 1) {
    const body = JSON.stringify({ spec: { attachmentTickets: { [former.id]: null } } })
    return `Remove the ticket, as Cofferdam does itself in the modes guide and hold: kubectl -n ${namespace} patch volumeattachments.longhorn.io ${name} --type merge -p '${body}'`
  }
  if (by === undefined) {
    return `Detach volume ${name}; Longhorn's setting detach-manually-attached-volumes-when-cordoned does so by itself.`
  }
  const isForMove = tickets.length > 0 && tickets.every(({ type }) => type === evictionTicketType)
  return isForMove
    ? 'Longhorn detaches it when no replica of it has to move any more.'
    : `It goes when ${by} has left the node.`
}

/** The most particular thing that can be said comes first: what never moves, what cannot move, what moves, what waits. */
export function explainReplica(so: SettledSoFar, held: HeldReplica): ReplicaBlocker {
  const { name, volume } = held.replica
  return { object: `replica/${name}`, volume, ...textOf(so, held) }
}

function textOf(so: SettledSoFar, { replica, hold, isWanted }: HeldReplica): BlockerText {
  const { name, volume, node } = replica
  const view = so.index.volumes.get(volume)
  const users = attachment(so.index, volume)
  const others = explainOtherCopies(so, replica)
  if (view?.isStrictLocal === true) {
    return blockerText(
      'StrictLocalReplica',
      `Replica ${name} of volume ${volume}${users} is bound to node ${node} by strict-local and never moves.`,
      `Label the volume ${drainPolicyLabel}=allow-if-replica-is-stopped and stop its workload, or =always-allow, or give it another data locality.`,
    )
  }
  if (view?.boundClone !== undefined) {
    return blockerText(
      'LinkedCloneReplica',
      `Replica ${name} of volume ${volume}${users} stays on node ${node}: ${view.boundClone}.`,
      'Delete the volume once it is not needed: linked clones are meant for a short time. Or make a full copy of it. A policy that lets stopped replicas go lets this one go when its workload has stopped.',
    )
  }
  if (view?.robustness === 'faulted') {
    return blockerText(
      'VolumeFaulted',
      `Volume ${volume}${users} has no usable copy, so replica ${name} on node ${node} cannot be copied: ${others}.`,
      'Salvage the volume or restore it from a backup; delete it if it is not needed.',
    )
  }
  if (!replica.isActive) {
    return blockerText(
      hold === 'must-leave' ? 'ReplicaMustLeave' : 'LastReplica',
      `Replica ${name} of volume ${volume}${users} on node ${node} is not active, and no active replica answers for its data: ${others}.`,
      'Longhorn removes or activates it when the engine upgrade or the migration of the volume has ended.',
    )
  }
  if (replicaRule(so.index, replica) === 'unknown') {
    return blockerText(
      'DrainPolicyUnknown',
      `The drain policy for volume ${volume}${users} is unknown, so nothing lets node ${node} go while replica ${name} is there.`,
      'Correct the setting node-drain-policy, or the label of the volume or the parameter of its StorageClass.',
    )
  }
  if (isWanted || replica.isEvictionRequested) {
    return explainMove(so.index, replica, `Replica ${name} of volume ${volume}${users}`)
  }
  if (hold === 'must-leave') {
    return blockerText(
      'ReplicaMustLeave',
      `Replica ${name} of volume ${volume}${users} must leave node ${node} first.`,
      'It moves as soon as the node is drained.',
    )
  }
  return blockerText(
    'LastReplica',
    `Replica ${name} is the last protected copy of volume ${volume}${users}: ${others}.`,
    'Wait until another copy is whole, ask for the eviction of the replica, or choose a policy that moves it.',
  )
}

export function explainUnreadable({ object, why }: UnreadableObject): ReplicaBlocker {
  return {
    object,
    volume: object.startsWith('volume/') ? object.slice('volume/'.length) : '',
    reason: 'ObjectsUnusable',
    explanation: `${object} cannot be read: ${why}.`,
    wayOut: 'Correct the object or delete it.',
  }
}

export function explainManagerAway({ name }: InstanceManagerView): ReplicaBlocker {
  return {
    object: `instancemanager/${name}`,
    volume: '',
    reason: 'InstanceManagerAway',
    explanation: `Instance manager ${name} does not run, so its budget stays as it is.`,
    wayOut: 'It starts again when the node is uncordoned.',
  }
}

function attachment(index: LonghornIndex, volume: string): string {
  const view = index.volumes.get(volume)
  if (view === undefined || view.state === 'detached') return ''
  if (view.attachedBy === undefined && view.attachedTo === undefined) return ''
  return ` (attached by ${view.attachedBy ?? 'an unknown client'}${view.attachedTo === undefined ? '' : ` on ${view.attachedTo}`})`
}

function blockerText(reason: Reason, explanation: string, wayOut: string): BlockerText {
  return { reason, explanation, wayOut }
}
