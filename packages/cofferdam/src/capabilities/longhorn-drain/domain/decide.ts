import type { LonghornDecision } from './decision.ts'
import { createLonghornJudge } from './judge.ts'
import type { LonghornSnapshot } from './snapshot.ts'

/**
 * Decides about every node of one Longhorn at once: which budgets stay, which replicas move, which nodes may go and why.
 *
 * Guarantees: no budget is let go for a copy elsewhere that is not protected itself when all of the decision is done,
 * unless a policy says that the volume holds nothing.
 * Fails closed: what is unknown holds its own node, and no other.
 */
export function decideLonghornDrain(snapshot: LonghornSnapshot): LonghornDecision {
  return createLonghornJudge().decide(snapshot)
}
