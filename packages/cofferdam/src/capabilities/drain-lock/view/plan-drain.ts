import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { BudgetReference } from '../../../shared/object-references.ts'
import { decideDisruption } from '../domain/decide.ts'
import { isAppLocked } from '../domain/judge-budget-hold.ts'
import type { DisruptionSnapshot, RequestView } from '../domain/snapshot.ts'
import { findForeseenWedges, findLastingObstacles, type LastingObstacle } from './drain-obstacles.ts'
import { estimateDrain, type PastDrain } from './estimate-drain.ts'
import { podPlanOf } from './plan-disruption.ts'
import { partClaim, planWaves, type WavePlace } from './plan-waves.ts'
import { type WaveNeeds, waveNeedsOf } from './waves/wave-needs.ts'

export interface DrainPlanQuestion {
  readonly snapshots: readonly DisruptionSnapshot[]
  readonly isByStorage: (budget: BudgetReference) => boolean
  /** What could not be read and may hold the node. */
  readonly unreadOn?: (node: string) => Omit<UnknownNode, 'node'> | undefined
  /** What a drain would make storage move, where storage moves anything. */
  readonly moves?: StorageMoves
  readonly past: readonly PastDrain[]
  /** Nodes with different values of this label are not in one wave. */
  readonly by?: { readonly label: string; readonly valueOf: (node: string) => string }
}

/** What storage moves off nodes that are drained. */
export interface StorageMoves {
  /** What has to leave the node and has nowhere to go. */
  placelessOn(node: string, intent: RequestView['intent']): readonly LastingObstacle[]
}

/** In which waves nodes can be drained, and which never can. */
export interface DrainPlan {
  /** Nodes of one wave can be away together. */
  readonly waves: readonly (readonly string[])[]
  /** No order takes fewer waves. */
  readonly lowerBound: number
  readonly never: readonly NeverDrained[]
  /** Nodes in no wave: what may hold them could not be read. */
  readonly unknown: readonly UnknownNode[]
  /** null: not known. */
  readonly estimateSeconds: number | null
  readonly estimateRestsOn: string
  /** What nodes of the waves wait for now; it can end by itself. */
  readonly waits: readonly WaitingNode[]
  /** What a drain can run into although nothing forbids it. */
  readonly foreseen: readonly ({ readonly node: string } & LastingObstacle)[]
}

export interface NeverDrained {
  readonly node: string
  readonly why: string
  readonly reasons: readonly LastingObstacle[]
}

export interface UnknownNode {
  readonly node: string
  readonly object: string
  readonly reason: string
  readonly why: string
}

export interface WaitingNode {
  readonly node: string
  readonly object: string
  readonly reason: string
  readonly why: string
  /** When it ends, where that is known. */
  readonly until?: string
}

/**
 * Asks the decisions of the operator about every node, and arranges those that can go. Writes nothing.
 *
 * Fails closed: a node that something holds which could not be read, for all that is known, is in no wave.
 */
export function planDrain({ snapshots, ...question }: DrainPlanQuestion): DrainPlan {
  const plan = beginDrainPlan({ ...question, asked: new Set(snapshots.map(({ request }) => request.nodeName)) })
  for (const snapshot of snapshots) plan.add(snapshot)
  return plan.finish()
}

/** A plan that is asked about one node after the other, so that nobody has to keep what was seen of thousands. */
export interface DrainPlanInMaking {
  add(snapshot: DisruptionSnapshot): void
  /** Once all nodes that are asked about were added. */
  finish(): DrainPlan
}

export function beginDrainPlan({
  asked,
  isByStorage,
  unreadOn,
  moves,
  past,
  by,
}: Omit<DrainPlanQuestion, 'snapshots'> & { readonly asked: ReadonlySet<string> }): DrainPlanInMaking {
  const never: NeverDrained[] = []
  const unknown: UnknownNode[] = []
  const waits: WaitingNode[] = []
  const foreseen: DrainPlan['foreseen'][number][] = []
  const needs: WaveNeeds[] = []
  const places = new Map<string, WavePlace>()
  let first: { readonly intent: RequestView['intent']; readonly nowMs: number } | undefined

  function add(snapshot: DisruptionSnapshot): void {
    const { nodeName: node, intent } = snapshot.request
    first ??= { intent, nowMs: snapshot.nowMs }
    const isBegun = hasBegun(snapshot)
    const pods = podPlanOf(snapshot)
    const reasons = isBegun ? [] : findLastingObstacles(snapshot, isByStorage, pods)
    if (reasons.length > 0) {
      never.push({ node, why: reasons.map(({ why }) => why).join(' '), reasons })
      return
    }
    const unread = isBegun ? undefined : unreadOn?.(node)
    if (unread !== undefined) {
      unknown.push({ node, ...unread })
      return
    }
    const blocked = isBegun ? [] : waitsOf(snapshot)
    waits.push(...blocked)
    const wedges = [
      ...findForeseenWedges(snapshot, isByStorage, pods),
      ...(isBegun ? [] : (moves?.placelessOn(node, intent) ?? [])),
    ]
    foreseen.push(...wedges.map((each) => ({ node, ...each })))
    places.set(node, isBegun ? 'begun' : blocked.length > 0 ? 'waits' : 'ready')
    const { claims, leaves } = waveNeedsOf(snapshot, { isByStorage, asked }, pods)
    const own = by === undefined ? claims : [...claims, partClaim(by.label, by.valueOf(node))]
    needs.push({ node, claims: own, leaves })
  }

  function finish(): DrainPlan {
    const { waves, lowerBound } = planWaves(needs, (node) => places.get(node) ?? 'ready')
    const estimate = estimateDrain(waves, {
      past,
      intent: first?.intent ?? 'Reboot',
      waitSecondsOf: knownWaits(waits, first?.nowMs ?? 0),
    })
    return {
      waves,
      lowerBound,
      never,
      unknown,
      estimateSeconds: estimate.seconds ?? null,
      estimateRestsOn: estimate.restsOn,
      waits,
      foreseen,
    }
  }

  return { add, finish }
}

function hasBegun({ request: { record } }: DisruptionSnapshot): boolean {
  return record.phase === 'Draining' || record.phase === 'Drained' || record.phase === 'Recovering'
}

/** What keeps the node from going at this moment, in the words of the operator. */
function waitsOf(snapshot: DisruptionSnapshot): readonly WaitingNode[] {
  return decideDisruption(snapshot).blockedBy.map(({ object, reason, holder, wayOut }) => {
    const until = lockEndOf(snapshot, object, reason)
    const why = `${object}, held by ${holder}. ${wayOut}`
    return { node: snapshot.request.nodeName, object, reason, why, ...(until === undefined ? {} : { until }) }
  })
}

function lockEndOf({ budgets, nowMs }: DisruptionSnapshot, object: string, reason: string): string | undefined {
  if (reason !== 'AppLocked') return undefined
  const budget = budgets.find(({ namespace, name }) => object === `pdb/${namespace}/${name}`)
  return budget?.appLock !== undefined && isAppLocked(budget, nowMs) ? rfc3339(budget.appLock.untilMs) : undefined
}

function knownWaits(waits: readonly WaitingNode[], nowMs: number): (node: string) => number {
  const seconds = new Map<string, number>()
  for (const { node, until } of waits) {
    const left = until === undefined ? 0 : (Date.parse(until) - nowMs) / 1000
    seconds.set(node, Math.max(seconds.get(node) ?? 0, Math.ceil(left)))
  }
  return (node) => seconds.get(node) ?? 0
}
