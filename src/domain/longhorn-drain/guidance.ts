import type { LonghornDecision } from './decision.ts'
import { isLeaving } from './eviction-flags.ts'
import type { GuidanceDecision } from './guidance-decision.ts'
import type { GuidanceMarks } from './guidance-marks.ts'
import { guideNodes } from './guidance-nodes.ts'
import { guideSetting } from './guidance-setting.ts'
import type { LonghornNodeView, LonghornSnapshot } from './snapshot.ts'

/**
 * What to change so that a Longhorn that decides drains itself brings about what is wanted, and what to change back.
 *
 * Guarantees: what is changed back holds what we put there; what somebody else changed since is his. Of nodes on which a
 * user asked for eviction, nothing is touched. Where Longhorn is not guided, everything is taken back and nothing begun.
 * Fails closed: a mark that cannot be read undoes nothing, and where the wanted policy is unknown nothing begins.
 */
export function decideGuidance(
  snapshot: LonghornSnapshot,
  decision: LonghornDecision,
  marks: GuidanceMarks,
): GuidanceDecision {
  const leaving = snapshot.nodes.filter((node) => isGuidedAway(snapshot, node, marks))
  const setting = guideSetting(snapshot, leaving, marks.setting)
  const nodes = guideNodes({ snapshot, decision, marks, leaving, inForce: setting.inForce })
  return { steps: [...setting.steps, ...nodes.steps], problems: [...setting.problems, ...nodes.problems] }
}

/**
 * A node that leaves. One that we asked for leaves until it is uncordoned: while its data moves by that request, Longhorn
 * does not call it automatic, and a drain that waits for the data looks like one that was given up.
 */
function isGuidedAway({ settings }: LonghornSnapshot, node: LonghornNodeView, { nodes }: GuidanceMarks): boolean {
  if (settings.mode !== 'guide') return false
  const asked = nodes.get(node.name)?.asked
  const isBegun = asked?.known === true && !asked.value.isYielded && node.isEvictionAsked
  return isLeaving(settings, node) || (node.isCordoned && isBegun)
}
