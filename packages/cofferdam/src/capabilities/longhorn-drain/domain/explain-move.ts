import type { Reason } from '../../../shared/reasons.ts'
import type { ReplicaBlocker } from './decision.ts'
import { wantedPolicyAnnotation } from './drain-settings.ts'
import { isFormerTicket } from './eviction-ticket.ts'
import type { LonghornIndex } from './longhorn-index.ts'
import { type MoveWait, moveStateOf } from './move-state.ts'
import { whyNoPlace } from './place-for-copy.ts'
import { drainPolicySetting } from './policy.ts'
import type { ReplicaView } from './snapshot.ts'

type MoveText = Pick<ReplicaBlocker, 'reason' | 'explanation' | 'wayOut'>

/** A replica that moves, or should. `of`: `Replica db-1 of volume db`, with who uses it. */
export function explainMove(index: LonghornIndex, replica: ReplicaView, of: string): MoveText {
  const state = moveStateOf(index, replica)
  const { node, volume: name } = replica
  const volume = index.volumes.get(name)
  if (state.is === 'copied') return explainCopied(index, replica, of)
  if (state.is === 'copying') {
    const share = volume?.rebuiltShare
    const far = share === undefined ? 'is there, and its rebuild has not started' : `is rebuilt to ${percent(share)}`
    return text(
      'ReplicaMoving',
      `${of} is being copied off node ${node}: ${state.to.name} on ${state.to.node} ${far}.`,
      'It ends when the new copy is complete.',
    )
  }
  if (volume?.schedulingProblem !== undefined) {
    // Longhorn names no node, and the one that takes a copy again may be closed by whoever waits for this move.
    const byNode = whyNoPlace(index, volume, node)
    return explainNoPlace(of, node, `${volume.schedulingProblem}${byNode === undefined ? '' : ` (${byNode})`}`)
  }
  if (state.is === 'not-begun') {
    return text(
      'ReplicaMustLeave',
      `${of} must leave node ${node}, and Longhorn has not begun to move it.`,
      yieldedWayOut(index) ?? notBegunWayOut(index, node),
    )
  }
  return explainWaiting(replica, { of, wait: state.for })
}

export function explainNoPlace(of: string, node: string, why: string): MoveText {
  return text(
    'NoPlaceForReplica',
    `${of} is to leave node ${node}, but no node takes another copy: ${why}.`,
    'Add a node or a disk, free space, let copies share a node (replica-soft-anti-affinity), correct node and disk tags, or uncordon the node.',
  )
}

/** What another client has set counts for Longhorn, and may move nothing of what is wanted. */
function yieldedWayOut({ settings: { isYielded, inForce, policy } }: LonghornIndex): string | undefined {
  if (isYielded !== true || !inForce.known || !policy.known || inForce.value === policy.value) return undefined
  return `Longhorn goes by ${drainPolicySetting} ${inForce.value}, which another client has set while a node was drained, and which leaves it there: set ${policy.value}, or make ${wantedPolicyAnnotation} as mild.`
}

/** Only the manager on the node itself requests evictions there. */
export function notBegunWayOut({ nodes }: LonghornIndex, node: string): string {
  return nodes.get(node)?.managerPod === 'away'
    ? `No longhorn-manager pod is ready on node ${node}, and no other one requests evictions there: start it.`
    : `The longhorn-manager on node ${node} requests it, within half a minute.`
}

function explainCopied(index: LonghornIndex, { name, node }: ReplicaView, of: string): MoveText {
  const clone = index.replicasOn(node).find(({ cloneSource }) => cloneSource === name)
  if (clone !== undefined) {
    return text(
      'LinkedCloneReplica',
      `${of} is copied, but stays on node ${node}: linked clone ${clone.volume} reads its data.`,
      `Delete volume ${clone.volume} once it is not needed, or make a full copy of it.`,
    )
  }
  return text('ReplicaMoving', `${of} is copied, and still on node ${node}.`, 'Longhorn deletes it next.')
}

function explainWaiting(
  { node, volume }: ReplicaView,
  { of, wait }: { readonly of: string; readonly wait: MoveWait },
): MoveText {
  const { why, wayOut } = waitText(volume, wait)
  const reason = wait.cause === 'rebuilds-off' ? 'LonghornStuck' : 'ReplicaMustLeave'
  return text(reason, `${of} is to leave node ${node}, and is not being copied: ${why}.`, wayOut)
}

function waitText(volume: string, wait: MoveWait): { readonly why: string; readonly wayOut: string } {
  switch (wait.cause) {
    case 'rebuilds-off':
      return {
        why: 'Longhorn makes no copies while its setting concurrent-replica-rebuild-per-node-limit is 0',
        wayOut: 'Set it to 1 or more.',
      }
    case 'changing':
      return { why: `${wait.what} first`, wayOut: 'It is copied when that has ended.' }
    case 'detached': {
      const { ticket } = wait
      if (ticket === undefined) {
        return {
          why: 'the volume is detached, and Longhorn has not attached it for that',
          wayOut:
            'Longhorn attaches it where a disk has room for the copy. A workload that uses the volume does so too.',
        }
      }
      const whose = isFormerTicket(ticket, volume) ? 'a ticket left over from an earlier Cofferdam' : 'Longhorn'
      return {
        why: `the volume is detached, and ${whose} attaches it to node ${ticket.node}`,
        wayOut: 'It is copied once it is attached.',
      }
    }
    case 'attaching':
      return { why: 'the volume is being attached or detached', wayOut: 'It is copied once it is attached.' }
    case 'other-rebuild':
      return {
        why: 'another copy of the volume is rebuilt first',
        wayOut: 'It is copied after that: Longhorn rebuilds one copy of a volume at a time.',
      }
    case 'failed-copy':
      return {
        why: `replica ${wait.copy.name} has failed, and Longhorn may wait for it to come back`,
        wayOut: 'It is copied after that: see its setting replica-replenishment-wait-interval.',
      }
    case 'unknown':
      return { why: 'Longhorn has made no copy yet', wayOut: 'Longhorn makes one where a node takes it.' }
  }
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`
}

function text(reason: Reason, explanation: string, wayOut: string): MoveText {
  return { reason, explanation, wayOut }
}
