import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { LonghornDecision, NodeAnswer, ReplicaBlocker } from './decision.ts'
import { notBegunWayOut } from './explain-move.ts'
import { stuckAfterMs } from './guidance-stuck.ts'
import { IndexedSnapshot, type LonghornIndex } from './longhorn-index.ts'
import { mayProtectForLonghorn } from './longhorn-rule.ts'
import { endsByItself, type MoveWait, moveStateOf } from './move-state.ts'
import { isHealthy } from './protection.ts'
import { isSeenClosed } from './seen-closing.ts'
import type { LonghornNodeView, LonghornSnapshot, ReplicaView } from './snapshot.ts'

/** A move that Longhorn should have begun or gone on with, and nothing that is named keeps it. */
export interface IdleMove {
  readonly node: string
  /** `replica/vol-1-r-a` */
  readonly object: string
  /** `not-begun`: its flag is down. `waiting`: it is up, and nothing is in the place of the replica. */
  readonly state: 'not-begun' | 'waiting'
  /** For those who remember since when: another one begins where Longhorn waits for something else. */
  readonly key: string
  /** Since when, as far as objects say; undefined: nobody knows. */
  readonly sinceMs: number | undefined
  /** How it is reported once it has lasted too long. */
  readonly stuck: ReplicaBlocker
}

/**
 * Moves that stand still, on nodes that they hold.
 *
 * Guarantees: what Longhorn would not do by its own rules and the policy in force is not among them, nor what waits for something that
 * is named: a place, an upgrade, another rebuild.
 */
export function findIdleMoves(snapshot: LonghornSnapshot, decision: LonghornDecision): readonly IdleMove[] {
  const waiting = decision.nodes.flatMap(({ node, blockers }) =>
    blockers.filter(isWaitingReplica).map((blocker) => ({ node, blocker })),
  )
  if (waiting.length === 0) return []
  const index = new IndexedSnapshot()
  index.update(snapshot)
  return waiting.flatMap(({ node: name, blocker }): IdleMove[] => {
    const replica = index.replicasOn(name).find((each) => `replica/${each.name}` === blocker.object) as ReplicaView
    const node = index.nodes.get(name) as LonghornNodeView
    const state = moveStateOf(index, replica)
    if (state.is === 'waiting' && !endsByItself(state.for))
      return [idleWaiting(index, state.for, { node, replica, blocker })]
    if (state.is === 'not-begun' && wouldBegin(index, node, replica))
      return [idleBegin(index, { node, replica, blocker })]
    return []
  })
}

/**
 * The decision with moves that have stood still for too long called so, as far as objects say since when. For those who remember nothing
 * from before: `explain`, `status` and the page.
 */
export function withStuckMoves(
  snapshot: LonghornSnapshot,
  decision: LonghornDecision,
  /** An open node that is shown as if it were cordoned: nothing is late there. */
  rehearsed?: string,
): LonghornDecision {
  const stuck = new Map(
    findIdleMoves(snapshot, decision)
      .filter(({ node, sinceMs }) => node !== rehearsed && isOverdue(sinceMs, snapshot.nowMs))
      .map((move) => [move.object, move.stuck]),
  )
  if (stuck.size === 0) return decision
  return { ...decision, nodes: decision.nodes.map((answer) => withStuck(answer, stuck)) }
}

/** When the next move is called stuck, if nothing changes before; undefined: none will be. */
export function nextStuckMs(snapshot: LonghornSnapshot, decision: LonghornDecision): number | undefined {
  const due = findIdleMoves(snapshot, decision).flatMap(({ sinceMs }) =>
    sinceMs === undefined || isOverdue(sinceMs, snapshot.nowMs) ? [] : [sinceMs + stuckAfterMs],
  )
  return due.length === 0 ? undefined : Math.min(...due)
}

export function isOverdue(sinceMs: number | undefined, nowMs: number): boolean {
  return sinceMs !== undefined && nowMs - sinceMs >= stuckAfterMs
}

function withStuck(answer: NodeAnswer, stuck: ReadonlyMap<string, ReplicaBlocker>): NodeAnswer {
  if (!answer.blockers.some(({ object }) => stuck.has(object))) return answer
  const blockers = answer.blockers.map((blocker) => stuck.get(blocker.object) ?? blocker)
  const first = blockers[0] as ReplicaBlocker
  const more = blockers.length === 1 ? '' : ` And ${blockers.length - 1} more.`
  return { ...answer, reason: first.reason, explanation: `${first.explanation}${more}`, blockers }
}

function isWaitingReplica({ object, reason }: ReplicaBlocker): boolean {
  return reason === 'ReplicaMustLeave' && object.startsWith('replica/')
}

interface Idle {
  readonly node: LonghornNodeView
  readonly replica: ReplicaView
  readonly blocker: ReplicaBlocker
}

/** A volume that is detached, or about to be, may have been attached a moment ago: since when it waits is not known then. */
function idleWaiting(index: LonghornIndex, { cause }: MoveWait, { node, replica, blocker }: Idle): IdleMove {
  const { name, volume } = replica
  const by = isRequested(node, replica) || isByPolicyForAll(index) ? always : lastSinceOf(index, replica)
  const sinceMs = cause === 'unknown' ? latestOf([node.moving?.sinceMs, by]) : undefined
  const { ownedBy } = index.volumes.get(volume) ?? {}
  const wayOut = `See what longhorn-manager${ownedBy === undefined ? '' : ` on node ${ownedBy}`} logs about volume ${volume}, and whether its pod is ready.`
  const explanation = `${blocker.explanation} Longhorn does not go on with it.`
  const [object, key] = [`replica/${name}`, `${name} waiting ${cause}`]
  return stuckMove({ node, blocker }, { state: 'waiting', sinceMs, object, key, explanation, wayOut })
}

function idleBegin(index: LonghornIndex, { node, replica, blocker }: Idle): IdleMove {
  const { name, volume } = replica
  const isAsked = isRequested(node, replica)
  const sinceMs = isAsked ? undefined : begunLateSince(index, node, replica)
  const cause = notBegunCause(index, node, replica)
  const explanation = `Replica ${name} of volume ${volume} must leave node ${node.name}, and Longhorn does not request its eviction${cause.why}.`
  const { wayOut } = cause
  const [object, key] = [`replica/${name}`, `${name} not-begun`]
  return stuckMove({ node, blocker }, { state: 'not-begun', sinceMs, object, key, explanation, wayOut })
}

function stuckMove(
  { node, blocker }: Pick<Idle, 'node' | 'blocker'>,
  {
    state,
    sinceMs,
    object,
    key,
    ...text
  }: Pick<IdleMove, 'state' | 'sinceMs' | 'object' | 'key'> & Pick<ReplicaBlocker, 'explanation' | 'wayOut'>,
): IdleMove {
  return { node: node.name, object, state, key, sinceMs, stuck: { ...blocker, ...text, reason: 'LonghornStuck' } }
}

/** What keeps Longhorn from it, as far as objects show it. */
function notBegunCause(
  index: LonghornIndex,
  node: LonghornNodeView,
  replica: ReplicaView,
): { readonly why: string; readonly wayOut: string } {
  if (node.managerPod === 'away') {
    return {
      why: `: no longhorn-manager pod is ready on that node, and no other one does it there`,
      wayOut: notBegunWayOut(index, node.name),
    }
  }
  if (!node.disks.some(({ uuid }) => uuid === replica.diskUuid)) {
    return {
      why: `: its disk ${replica.diskUuid} is not among the disks of node ${node.name}, and Longhorn goes through those alone`,
      wayOut: `Correct spec.disks of Longhorn's node ${node.name}, or delete the replica in Longhorn if another copy is whole.`,
    }
  }
  const gone = copyOnGoneNode(index, node.name)
  if (gone !== undefined && !isByPolicyForAll(index) && !isRequested(node, replica)) {
    return {
      why: `: replica ${gone.name} of volume ${gone.volume} is on node ${gone.node}, which Kubernetes no longer has, and Longhorn stops checking there`,
      wayOut: `Delete replica ${gone.name} in Longhorn, or node ${gone.node} if it does not come back.`,
    }
  }
  return {
    why: '',
    wayOut: `See what the longhorn-manager pod on node ${node.name} logs: one replica that it cannot handle stops all of the node.`,
  }
}

/** Longhorn asks for the node of every whole copy of every volume on the node, and gives up where Kubernetes has no such node. */
function copyOnGoneNode(index: LonghornIndex, node: string): ReplicaView | undefined {
  return index
    .replicasOn(node)
    .flatMap(({ volume }) => index.replicasOf(volume))
    .find((copy) => isHealthy(copy) && (index.nodes.get(copy.node)?.kubernetes ?? 'absent') === 'absent')
}

/** Whether Longhorn raises the flag, by its own rules and the policy in force. */
function wouldBegin(index: LonghornIndex, node: LonghornNodeView, replica: ReplicaView): boolean {
  if (node.kubernetes !== 'ready' || index.unreadableObjects.has(`node/${node.name}`)) return false
  if (isRequested(node, replica)) return true
  const { inForce } = index.settings
  if (!isSeenClosed(node) || !inForce.known) return false
  if (inForce.value === 'block-for-eviction') return true
  return inForce.value === 'block-for-eviction-if-contains-last-replica' && isLastForLonghorn(index, replica)
}

function isLastForLonghorn(index: LonghornIndex, replica: ReplicaView): boolean {
  return !othersOf(index, replica).some((copy) => mayProtectForLonghorn(index, copy))
}

function othersOf(index: LonghornIndex, replica: ReplicaView): readonly ReplicaView[] {
  return index.replicasOf(replica.volume).filter(({ node }) => node !== replica.node)
}

/** The latest of all that had to happen before Longhorn should raise the flag; undefined where the time of one is not known. */
function begunLateSince(index: LonghornIndex, node: LonghornNodeView, replica: ReplicaView): number | undefined {
  const last = isByPolicyForAll(index) ? always : lastSinceOf(index, replica)
  const times = [node.cordonedSinceMs, index.settings.inForceSinceMs, last]
  return latestOf(times)
}

/** Since when a replica is the last protected copy of its volume; `always`: there is no other. */
function lastSinceOf(index: LonghornIndex, replica: ReplicaView): number | undefined {
  const times = othersOf(index, replica).map((copy) => {
    if (copy.failedAt !== '') return parseRfc3339(copy.failedAt)
    return copy.healthyAt === '' ? undefined : index.nodes.get(copy.node)?.cordonedSinceMs
  })
  return latestOf(times)
}

const always = Number.NEGATIVE_INFINITY

function latestOf(times: readonly (number | undefined)[]): number | undefined {
  let latest = always
  for (const time of times) {
    if (time === undefined) return undefined
    latest = Math.max(latest, time)
  }
  return latest
}

function isByPolicyForAll({ settings: { inForce } }: LonghornIndex): boolean {
  return inForce.known && inForce.value === 'block-for-eviction'
}

function isRequested({ isEvictionAsked, disks }: LonghornNodeView, { diskUuid }: ReplicaView): boolean {
  return isEvictionAsked || disks.some((disk) => disk.isEvictionAsked && disk.uuid === diskUuid)
}
