import type { EvictionAnswer } from './decision.ts'
import { hasCopyToRelyOnSoon, type SettledSoFar } from './protection.ts'
import { replicaRule } from './replica-rule.ts'
import { isSeenClosed } from './seen-closing.ts'
import type { LonghornDrainSettings, LonghornNodeView, ReplicaView } from './snapshot.ts'

interface Flag {
  readonly isRequested: boolean
  readonly event: EvictionAnswer['event']
  readonly why: string
}

/** For a replica on the node whose flag is up or should change. A node that is not known keeps all flags as they are. */
export function evictionAnswer(
  so: SettledSoFar,
  node: LonghornNodeView,
  replica: ReplicaView,
): EvictionAnswer | undefined {
  // An inactive one goes or becomes active when its volume has settled, and is judged then.
  if (!replica.isActive || !(replica.isEvictionRequested || isOneAsked(so.index.settings, node))) return undefined
  if (so.index.unreadableObjects.has(`node/${node.name}`)) return undefined
  const { isRequested, event, why } = flagOf(so, node, replica)
  const changes = isRequested !== replica.isEvictionRequested
  if (!isRequested && !changes) return undefined
  return { replica: replica.name, node: node.name, isRequested, event, changes, explanation: why }
}

/** Whether any replica of the node may have to leave. */
function isOneAsked(settings: Pick<LonghornDrainSettings, 'trigger'>, node: LonghornNodeView): boolean {
  return node.isEvictionAsked || isEmptied(settings, node) || node.disks.some((disk) => disk.isEvictionAsked)
}

function flagOf(so: SettledSoFar, node: LonghornNodeView, replica: ReplicaView): Flag {
  if (replica.isBeingDeleted) {
    return asItIs(replica, 'It is being deleted.')
  }
  const { boundClone } = so.index.volumes.get(replica.volume) ?? {}
  if (boundClone !== undefined) return asItIs(replica, `Longhorn does not move it: ${boundClone}.`)
  if (node.kubernetes !== 'ready') {
    const why = node.kubernetes === 'absent' ? 'is gone' : 'does not answer'
    return { isRequested: false, event: 'KubernetesNodeNotReady', why: `Node ${node.name} ${why}.` }
  }
  if (node.isEvictionAsked || isDiskAsked(node, replica)) {
    const what = node.isEvictionAsked ? `node ${node.name}` : `disk ${replica.diskUuid} of node ${node.name}`
    return { isRequested: true, event: 'EvictionUserRequested', why: `The eviction of ${what} is requested.` }
  }
  if (!isEmptied(so.index.settings, node)) {
    if (!node.isCordoned) return canceled(`Node ${node.name} takes new pods.`)
    return canceled(isSeenClosed(node) ? 'The node is not being drained.' : `Node ${node.name} is not cordoned.`)
  }
  return flagByPolicy(so, node, replica)
}

function flagByPolicy(so: SettledSoFar, node: LonghornNodeView, replica: ReplicaView): Flag {
  const rule = replicaRule(so.index, replica)
  if (rule === 'unknown')
    return asItIs(replica, 'The drain policy is not known: no replica starts to move, and none stops.')
  if (rule === 'move-all') return automatic(`Every replica leaves node ${node.name} before it goes.`)
  if (rule !== 'move-last') return canceled('The drain policy moves no replicas.')
  if (!hasCopyToRelyOnSoon(so, replica)) {
    return automatic(`Volume ${replica.volume} has no protected copy but the one on node ${node.name}.`)
  }
  if (node.isAutoEvicting && replica.isEvictionRequested && hasReplacement(so, replica)) {
    return automatic('Its replacement is there already, so the move is carried through.')
  }
  return canceled(`Volume ${replica.volume} has a protected copy on another node.`)
}

/**
 * A cordon is enough where the settings say so. Else somebody must drain; and what was begun goes on until the node is
 * uncordoned, however long nobody tries again, since a drain that waits for the data looks like one that was given up.
 */
export function isLeaving({ trigger }: Pick<LonghornDrainSettings, 'trigger'>, node: LonghornNodeView): boolean {
  return node.isCordoned && (trigger === 'cordon' || node.isDraining || node.isAutoEvicting)
}

/**
 * A node that leaves and that Longhorn sees as closed. On one that it takes for open it would build the replacement of a replica on the
 * very node that the replica leaves, again and again.
 */
function isEmptied(settings: Pick<LonghornDrainSettings, 'trigger'>, node: LonghornNodeView): boolean {
  return isLeaving(settings, node) && isSeenClosed(node)
}

/** More copies than the volume wants, whole or being built: to cancel now would leave one too many behind. */
function hasReplacement({ index }: SettledSoFar, replica: ReplicaView): boolean {
  const wanted = index.volumes.get(replica.volume)?.numberOfReplicas
  const live = index
    .copiesOf(replica.volume)
    .filter(({ failedAt, isBeingDeleted }) => failedAt === '' && !isBeingDeleted)
  return wanted !== undefined && live.length > wanted
}

function isDiskAsked({ disks }: LonghornNodeView, { diskUuid }: ReplicaView): boolean {
  return disks.some(({ uuid, isEvictionAsked }) => isEvictionAsked && uuid === diskUuid)
}

function automatic(why: string): Flag {
  return { isRequested: true, event: 'EvictionAutomatic', why }
}

function canceled(why: string): Flag {
  return { isRequested: false, event: 'EvictionCanceled', why }
}

function asItIs({ isEvictionRequested }: ReplicaView, why: string): Flag {
  return {
    isRequested: isEvictionRequested,
    event: isEvictionRequested ? 'EvictionAutomatic' : 'EvictionCanceled',
    why,
  }
}
