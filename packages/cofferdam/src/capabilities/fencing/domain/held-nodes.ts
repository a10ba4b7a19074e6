import type { FenceAnswer, FencingDecision } from './decision.ts'
import type { FencingSnapshot } from './snapshot.ts'

/** The sick nodes that remediators are kept from, because storage cannot lose them now. */
export function heldNodes(
  { nodes }: Pick<FencingDecision, 'nodes'>,
  seen: Pick<FencingSnapshot, 'nodes'>,
): readonly FenceAnswer[] {
  const sick = new Set(seen.nodes.filter(({ isReady }) => !isReady).map(({ name }) => name))
  return nodes.filter(({ node, mayFence, reason }) => !mayFence && sick.has(node) && reason !== 'PlannedOutage')
}
