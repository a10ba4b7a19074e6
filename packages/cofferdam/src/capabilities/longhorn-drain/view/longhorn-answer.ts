import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { NodeAnswer, ReplicaMove } from '../domain/decision.ts'
import { estimateMove } from '../domain/estimate-move.ts'
import type { LonghornDrainSettings, LonghornNodeView } from '../domain/snapshot.ts'
import { type LonghornView, nodeOf, passesInDrain, rehearseDrain } from './longhorn-view.ts'
import { ownCordonText } from './own-cordon-text.ts'

/** Who decides drains of Longhorn's nodes, and by which policy. */
export interface LonghornRule {
  readonly mode: LonghornDrainSettings['mode']
  /** What somebody else undid of what the operator wrote, not long ago. */
  readonly reverted?: string
  /** What decides; left out while it is unknown. */
  readonly policy?: string
  /** What the setting says, where a guide wants another. */
  readonly inForce?: string
  readonly trigger: LonghornDrainSettings['trigger']
  /** Left out where it is not known whether an operator is at work, or nobody needs one. */
  readonly isAttended?: boolean
}

/** How far replicas have moved off a node. */
export interface MoveProgress {
  readonly bytesLeft: number
  /** Since when, and how much there was; left out where nobody noted it. */
  readonly since?: string
  readonly bytes?: number
  /** On the whole since then. */
  readonly bytesPerSecond?: number
  readonly secondsLeft?: number
  /** Nothing is being copied now, so there is no pace. */
  readonly isIdle?: true
}

/** What Longhorn, or we in its place, say about one node. */
export interface LonghornAnswer extends LonghornRule {
  readonly node: string
  /** The node is open: the answer is what a drain would meet if it began now. */
  readonly isRehearsed: boolean
  /** Why Cofferdam has cordoned the node, where it has. */
  readonly cordon?: string
  readonly mayDrain: boolean
  readonly reason: string
  readonly explanation: string
  /** How many are on the node. */
  readonly replicas: number
  /** Replicas that move off the node, should, or would; and how far each is. */
  readonly moving: readonly ReplicaMove[]
  readonly progress?: MoveProgress
  readonly heldBy: readonly LonghornHold[]
}

export interface LonghornHold {
  /** `replica/vol-1-r-a`, `volume/vol-1` */
  readonly object: string
  readonly volume: string
  readonly reason: string
  readonly explanation: string
  readonly wayOut: string
  /** A drain ends it without anybody's help. */
  readonly passes: boolean
}

/** Undefined where Longhorn has no such node. */
export function answerLonghorn(
  view: LonghornView,
  { nodeName, podsOnNode }: { readonly nodeName: string; readonly podsOnNode: readonly Pod[] },
): LonghornAnswer | undefined {
  const asked = rehearseDrain(view, nodeName)
  const node = nodeOf(asked, nodeName)
  const answer = asked.decision.nodes.find((each) => each.node === nodeName)
  if (node === undefined || answer === undefined) return undefined
  const cordon = ownCordonText(node)
  const { mayDrain, reason, explanation, blockers, moves } = answer
  return {
    ...ruleInForce(view),
    node: nodeName,
    isRehearsed: asked.rehearsed === nodeName,
    ...(cordon === undefined ? {} : { cordon }),
    mayDrain,
    reason,
    explanation,
    replicas: asked.snapshot.replicas.filter(({ node: place, isActive }) => place === nodeName && isActive).length,
    moving: moves,
    ...(hasBegun(moves) ? { progress: progressOf(node, answer, asked.snapshot.nowMs) } : {}),
    heldBy: blockers.map((blocker) => ({
      object: blocker.object,
      volume: blocker.volume,
      reason: blocker.reason,
      explanation: blocker.explanation,
      wayOut: blocker.wayOut,
      passes: passesInDrain(blocker, asked, podsOnNode),
    })),
  }
}

export function ruleInForce({ snapshot, isAttended }: LonghornView): LonghornRule {
  const { mode, reverted, policy, inForce, trigger } = snapshot.settings
  const differs = inForce.known && !(policy.known && policy.value === inForce.value)
  return {
    mode,
    ...(reverted === undefined ? {} : { reverted }),
    ...(policy.known ? { policy: policy.value } : {}),
    ...(differs ? { inForce: inForce.value } : {}),
    trigger,
    ...(isAttended === undefined || mode === 'observe' ? {} : { isAttended }),
  }
}

export function progressOf(
  { moving }: Pick<LonghornNodeView, 'moving'>,
  { moves, bytesLeft }: Pick<NodeAnswer, 'moves' | 'bytesLeft'>,
  nowMs: number,
): MoveProgress {
  const isIdle = bytesLeft > 0 && !moves.some(({ state }) => state === 'copying')
  if (moving === undefined) return { bytesLeft, ...(isIdle ? { isIdle } : {}) }
  const estimate = isIdle ? { isIdle } : estimateMove({ moving, bytesLeft, nowMs })
  return { bytesLeft, since: rfc3339(moving.sinceMs), bytes: Math.max(moving.bytes, bytesLeft), ...estimate }
}

/** Whether the flag of any of them is up. */
export function hasBegun(moves: readonly ReplicaMove[]): boolean {
  return moves.some(({ state }) => state !== 'not-begun')
}
