import { holdNameOf } from './budget-object.ts'
import type { LonghornDecision, NodeAnswer, ReplicaBlocker } from './decision.ts'
import { explainLonghornStuck } from './guidance-stuck.ts'
import type { LonghornSnapshot } from './snapshot.ts'

/**
 * The decision as far as it is in force: evictions are refused by the budgets that are there, not by those that should be.
 *
 * Guarantees: no cordoned node may be drained while a budget of it is there that should be gone; one that Longhorn will not remove by
 * itself says why.
 */
export function withLingeringBudgets(
  snapshot: LonghornSnapshot,
  decision: LonghornDecision,
  /** An open node that is shown as if it were cordoned: its budgets go when it is. */
  rehearsed?: string,
): LonghornDecision {
  const stuck = new Map(explainLonghornStuck(snapshot, decision).map((each) => [each.node, each]))
  const cordoned = new Set(snapshot.nodes.filter(({ isCordoned }) => isCordoned).map(({ name }) => name))
  const lingering = new Map<string, ReplicaBlocker>()
  for (const { node, instanceManager, wanted } of decision.budgets) {
    const isThere = wanted === 'absent' && snapshot.budgets.has(instanceManager)
    if (isThere && node !== rehearsed && cordoned.has(node)) lingering.set(node, goingBudget(instanceManager, snapshot))
  }
  if (stuck.size === 0 && lingering.size === 0) return decision
  return {
    ...decision,
    nodes: decision.nodes.map((answer): NodeAnswer => {
      const blocker = stuck.get(answer.node) ?? lingering.get(answer.node)
      if (!answer.mayDrain || blocker === undefined) return answer
      const { object, reason, explanation, wayOut } = blocker
      const held = { object, volume: '', reason, explanation, wayOut }
      return { ...answer, mayDrain: false, reason, explanation, blockers: [held] }
    }),
  }
}

function goingBudget(instanceManager: string, { namespace, longhornBudgets }: LonghornSnapshot): ReplicaBlocker {
  const isLonghorns = longhornBudgets.has(instanceManager)
  const who = isLonghorns ? 'Longhorn' : 'The operator'
  const budget = `${namespace}/${isLonghorns ? instanceManager : holdNameOf(instanceManager)}`
  return {
    object: `pdb/${budget}`,
    volume: '',
    reason: 'ReplicasProtected',
    explanation: `Nothing on the node holds it, but budget ${budget} is still there.`,
    wayOut: `${who} removes it next.`,
  }
}
