import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { Attendance } from '../../../shared/attendance.ts'
import { parsePodOnNode } from '../../../shared/pod-on-node.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { asDecided } from '../domain/as-decided.ts'
import type { LonghornDecision, NodeAnswer, ReplicaBlocker } from '../domain/decision.ts'
import { createLonghornJudge } from '../domain/judge.ts'
import { withLingeringBudgets } from '../domain/lingering.ts'
import { withCordon } from '../domain/seen-closing.ts'
import type { LonghornNodeView, LonghornSnapshot } from '../domain/snapshot.ts'
import { withStuckMoves } from '../domain/stuck-moves.ts'

/** What is known of Longhorn when something is explained, and what the drain policy makes of it. */
export interface LonghornView extends Attendance {
  readonly snapshot: LonghornSnapshot
  readonly decision: LonghornDecision
  /** Decides about a snapshot that differs little from this one without reading all of it again. */
  readonly decide: (snapshot: LonghornSnapshot) => LonghornDecision
  /** An open node that is shown as if it were drained, to show what a drain would meet. */
  readonly rehearsed?: string
  /** Why nothing is known of any node; the view is empty then. */
  readonly unknownWhy?: string
}

/** `decide`: for those who decide again and again. */
export function viewLonghorn(
  seen: LonghornSnapshot,
  attendance: Attendance = {},
  decide: LonghornView['decide'] = createLonghornJudge().decide,
): LonghornView {
  const snapshot = asDecided(seen)
  return { ...attendance, snapshot, decision: asItStands(snapshot, decide(snapshot)), decide }
}

/** The decision, and what has come of it so far. */
function asItStands(snapshot: LonghornSnapshot, decision: LonghornDecision, rehearsed?: string): LonghornDecision {
  return withStuckMoves(snapshot, withLingeringBudgets(snapshot, decision, rehearsed), rehearsed)
}

/** The same view for a node that is leaving or unknown; for an open one, as the same decision would have it in a drain. */
export function rehearseDrain(view: LonghornView, node: string): LonghornView {
  const seen = nodeOf(view, node)
  if (seen === undefined || isLeaving(seen)) return view
  const shown: LonghornNodeView = { ...withCordon(seen), isDraining: true }
  const nodes = view.snapshot.nodes.map((each) => (each === seen ? shown : each))
  const snapshot = { ...view.snapshot, nodes }
  const decision = asItStands(snapshot, view.decide(snapshot), node)
  const flagged = new Set(
    snapshot.replicas.filter((each) => each.isEvictionRequested).map(({ name }) => `replica/${name}`),
  )
  const answers = decision.nodes.map((answer) => (answer.node === node ? asRehearsed(answer, flagged) : answer))
  return { ...view, snapshot, decision: { ...decision, nodes: answers }, rehearsed: node }
}

/** The same answer, without the claim that Longhorn should have begun with what nobody has asked for yet. */
function asRehearsed(answer: NodeAnswer, flagged: ReadonlySet<string>): NodeAnswer {
  const blockers = answer.blockers.map((blocker): ReplicaBlocker => {
    if (blocker.reason !== 'ReplicaMustLeave' || flagged.has(blocker.object)) return blocker
    const [, name] = blocker.object.split('/')
    return {
      ...blocker,
      explanation: `Replica ${name} of volume ${blocker.volume} has to be copied to another node first.`,
      wayOut: 'A drain moves it; that needs a node that has room and may take it.',
    }
  })
  const [first] = blockers
  if (first === undefined) return answer
  const more = blockers.length === 1 ? '' : ` And ${blockers.length - 1} more.`
  return { ...answer, reason: first.reason, explanation: `${first.explanation}${more}`, blockers }
}

export function nodeOf({ snapshot }: LonghornView, name: string): LonghornNodeView | undefined {
  return snapshot.nodes.find((node) => node.name === name)
}

function isLeaving({ isCordoned, isDraining }: LonghornNodeView): boolean {
  return isCordoned || isDraining
}

/** Somebody of ours is in charge, and nobody of ours is at work. */
export function isForsaken({ snapshot, isAttended }: LonghornView): boolean {
  return isAttended === false && snapshot.settings.mode !== 'observe'
}

/** Replicas that move by themselves once the node is drained. */
export const moveReasons: readonly Reason[] = ['ReplicaMoving', 'ReplicaMustLeave']

/**
 * Whether a drain ends it without anybody's help: the replica moves, or the volume goes with pods that are evicted.
 *
 * Fails closed: a pod that is not on the node, or that stays there, takes no volume with it.
 */
export function passesInDrain(
  { reason, volume }: ReplicaBlocker,
  view: LonghornView,
  podsOnNode: readonly Pod[],
): boolean {
  const seen = view.snapshot.volumes.find(({ name }) => name === volume)
  if (moveReasons.includes(reason)) return !isForsaken(view)
  if (reason !== 'VolumeAttached' || seen?.attachedBy === undefined) return false
  const leavers = new Set(podsOnNode.filter(isTakenByDrain).map((pod) => `pod ${keyText(keyOf(pod))}`))
  return seen.attachedBy.split(', ').every((user) => leavers.has(user))
}

function isTakenByDrain(pod: Pod): boolean {
  const { mustLeave, wantsToStay } = parsePodOnNode(pod)
  return mustLeave && !wantsToStay
}
