import type { LonghornDecision } from '../domain/decision.ts'
import type { VolumeView } from '../domain/snapshot.ts'
import { hasBegun, type LonghornRule, type MoveProgress, progressOf, ruleInForce } from './longhorn-answer.ts'
import { type LonghornView, nodeOf } from './longhorn-view.ts'
import { countMoves, type MoveCounts } from './move-counts.ts'

/** All of Longhorn as far as drains go. */
export interface LonghornSummary extends LonghornRule {
  readonly volumes: Readonly<Record<VolumeView['robustness'], number>> & { readonly total: number }
  readonly replicas: number
  /** Nodes that are cordoned or drained. */
  readonly nodes: readonly LonghornNodeSummary[]
  readonly problems: LonghornDecision['problems']
  /** Where the operator decides: volumes with copies that are to be removed and stay for now. */
  readonly surplusKept: LonghornDecision['surplusKept']
}

export interface LonghornNodeSummary {
  readonly node: string
  readonly mayDrain: boolean
  readonly reason: string
  readonly explanation: string
  /** How many things hold it. */
  readonly held: number
  /** Replicas that move off it, or should. */
  readonly moving: number
  /** How many of them are how far. */
  readonly moves: MoveCounts
  readonly progress?: MoveProgress
}

export function summarizeLonghorn(view: LonghornView): LonghornSummary {
  const { snapshot, decision } = view
  const volumes = { total: snapshot.volumes.length, healthy: 0, degraded: 0, faulted: 0, unknown: 0 }
  for (const { robustness } of snapshot.volumes) volumes[robustness] += 1
  return {
    ...ruleInForce(view),
    volumes,
    replicas: snapshot.replicas.filter(({ isActive }) => isActive).length,
    nodes: decision.nodes.map(({ node, mayDrain, reason, explanation, moves, bytesLeft, blockers }) => {
      const counts = { moving: moves.length, moves: countMoves(moves) }
      const progress = hasBegun(moves)
        ? { progress: progressOf(nodeOf(view, node) ?? {}, { moves, bytesLeft }, snapshot.nowMs) }
        : {}
      return { node, mayDrain, reason, explanation, held: blockers.length, ...counts, ...progress }
    }),
    problems: decision.problems,
    surplusKept: snapshot.settings.mode === 'hold' ? decision.surplusKept : [],
  }
}
