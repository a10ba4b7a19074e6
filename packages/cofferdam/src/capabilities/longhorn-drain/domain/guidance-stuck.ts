import type { Reason } from '../../../shared/reasons.ts'
import type { LonghornDecision } from './decision.ts'
import { IndexedSnapshot, type LonghornIndex } from './longhorn-index.ts'
import { isCountedByLonghorn } from './longhorn-rule.ts'
import { drainPolicySetting } from './policy.ts'
import { hasProtectedCopyElsewhere, isHealthy } from './protection.ts'
import type { DrainPolicy, LonghornSnapshot, ReplicaView } from './snapshot.ts'

/** Longhorn reconciles every half minute; what it did not do in two passes it will not do. */
export const stuckAfterMs = 60_000

export interface StuckNode {
  readonly node: string
  /** What Longhorn stumbles over: `replica/vol-1-r-a`, else `poddisruptionbudget/instance-manager-1`. */
  readonly object: string
  readonly reason: Reason
  readonly explanation: string
  readonly wayOut: string
}

type StuckText = Pick<StuckNode, 'object' | 'explanation' | 'wayOut'>

/** Nodes that may go though Longhorn still holds them, with the time since when. */
export function observeLingering(
  before: ReadonlyMap<string, number>,
  snapshot: LonghornSnapshot,
  decision: LonghornDecision,
): ReadonlyMap<string, number> {
  const names = [...lingeringBudgets(snapshot, decision).keys()]
  return new Map(names.map((name) => [name, before.get(name) ?? snapshot.nowMs]))
}

/**
 * Why Longhorn does not let nodes go that nothing holds. In the order of their names.
 *
 * Without `since` only those with a known cause are reported: for how long the others have waited is not known then.
 */
export function explainLonghornStuck(
  snapshot: LonghornSnapshot,
  decision: Pick<LonghornDecision, 'nodes' | 'budgets'>,
  since?: ReadonlyMap<string, number>,
): readonly StuckNode[] {
  const { nowMs } = snapshot
  const waiting = [...lingeringBudgets(snapshot, decision)].filter(
    ([node]) => since === undefined || nowMs - (since.get(node) ?? nowMs) >= stuckAfterMs,
  )
  if (waiting.length === 0) return []
  const index = new IndexedSnapshot()
  index.update(snapshot)
  const policy = policyMet(snapshot, since === undefined)
  return waiting.flatMap(([node, budget]): StuckNode[] => {
    const counted =
      policy === undefined ? [] : index.replicasOn(node).filter((replica) => isCountedByLonghorn(replica, policy))
    const isAsking = policy !== 'block-for-eviction'
    const cause =
      (isAsking ? explainGoneNode(index, counted, node) : undefined) ?? explainPolicy(index, counted, { node, policy })
    if (cause === undefined && since === undefined) return []
    return [{ node, reason: 'LonghornStuck', ...(cause ?? explainSilence(node, budget)) }]
  })
}

/**
 * What Longhorn goes by. Whoever sees it for the first time may see a guide that is about to put another in force, but where another client had
 * the last word.
 */
function policyMet({ settings }: LonghornSnapshot, isFirstSight: boolean): DrainPolicy | undefined {
  const { mode, policy, inForce, isYielded } = settings
  const met = isFirstSight && mode !== 'observe' && isYielded !== true ? policy : inForce
  return met.known ? met.value : undefined
}

/** By node, the first of its budgets that should be gone. */
function lingeringBudgets(
  snapshot: LonghornSnapshot,
  decision: Pick<LonghornDecision, 'nodes' | 'budgets'>,
): ReadonlyMap<string, string> {
  if (decision.nodes.length === 0) return new Map()
  const free = new Set(decision.nodes.filter(({ mayDrain }) => mayDrain).map(({ node }) => node))
  const cordoned = new Set(snapshot.nodes.filter(({ isCordoned }) => isCordoned).map(({ name }) => name))
  const found = new Map<string, string>()
  for (const { instanceManager, node, wanted } of decision.budgets) {
    const isThere = wanted === 'absent' && snapshot.longhornBudgets.has(instanceManager)
    if (isThere && free.has(node) && cordoned.has(node) && !found.has(node)) found.set(node, instanceManager)
  }
  return found
}

/** Longhorn asks for the node of every copy, and gives up where Kubernetes has no such node. */
function explainGoneNode(index: LonghornIndex, counted: readonly ReplicaView[], node: string): StuckText | undefined {
  const gone = counted
    .flatMap(({ volume }) => index.replicasOf(volume))
    .filter((copy) => copy.node !== '' && (index.nodes.get(copy.node)?.kubernetes ?? 'absent') === 'absent')
  const copy = gone.find(isHealthy) ?? gone[0]
  if (copy === undefined) return undefined
  return {
    object: `replica/${copy.name}`,
    explanation: `Nothing holds node ${node}, but Longhorn cannot see that: replica ${copy.name} of volume ${copy.volume} is on node ${copy.node}, which Kubernetes no longer has, and Longhorn stops checking there.`,
    wayOut: `Delete replica ${copy.name} (kubectl -n ${index.namespace} delete replicas.longhorn.io ${copy.name}), or node ${copy.node} in Longhorn if it does not come back.`,
  }
}

/** Longhorn knows nothing of policies of single volumes, nor of one that is wanted but not in force. */
function explainPolicy(
  index: LonghornIndex,
  counted: readonly ReplicaView[],
  { node, policy }: { readonly node: string; readonly policy: DrainPolicy | undefined },
): StuckText | undefined {
  const none: ReadonlySet<string> = new Set()
  const so = { index, released: none, planned: none, surplus: none }
  const held = counted.find((replica) => policy === 'block-for-eviction' || !hasProtectedCopyElsewhere(so, replica))
  if (held === undefined) return undefined
  return {
    object: `replica/${held.name}`,
    explanation: `Nothing should hold node ${node}, but Longhorn goes by ${drainPolicySetting} alone, and under ${policy} replica ${held.name} of volume ${held.volume} holds it.`,
    wayOut: yieldedWayOut(index) ?? `Move the replica, or set ${drainPolicySetting} to a policy that lets it go.`,
  }
}

function yieldedWayOut({ settings: { isYielded, policy } }: LonghornIndex): string | undefined {
  if (isYielded !== true || !policy.known) return undefined
  return `Another client has set it while a node was drained: set ${policy.value}, or move the replica.`
}

function explainSilence(node: string, budget: string): StuckText {
  return {
    object: `poddisruptionbudget/${budget}`,
    explanation: `Nothing holds node ${node}, but Longhorn has kept budget ${budget} for more than a minute.`,
    wayOut: 'See whether a pod longhorn-manager runs and what it logs; it checks budgets every half minute.',
  }
}
