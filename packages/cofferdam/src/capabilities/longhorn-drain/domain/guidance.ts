import type { LonghornDecision } from './decision.ts'
import { isLeaving } from './eviction-flags.ts'
import type { GuidanceDecision } from './guidance-decision.ts'
import type { AskedMark, GuidanceMarks } from './guidance-marks.ts'
import { guideNodes } from './guidance-nodes.ts'
import { guideSetting } from './guidance-setting.ts'
import type { LonghornNodeView, LonghornSnapshot } from './snapshot.ts'

/**
 * What to change so that Longhorn, which decides drains itself, brings about what is wanted, and what to change back.
 *
 * Guarantees: what is changed back holds what we put there; what somebody else changed since is his. Of nodes and disks on which
 * a user asked for eviction, nothing is touched. Where Longhorn is not guided, everything is taken back and nothing begun.
 * Fails closed: a mark that cannot be read undoes nothing, and where the wanted policy is unknown nothing begins.
 */
export function decideGuidance(
  snapshot: LonghornSnapshot,
  decision: LonghornDecision,
  marks: GuidanceMarks,
): GuidanceDecision {
  const isGuide = snapshot.settings.mode !== 'observe'
  const leaving = isGuide ? snapshot.nodes.filter((node) => isGuidedAway(snapshot, node, marks)) : []
  const goers = new Set(leaving)
  const announced = isGuide ? snapshot.nodes.filter((node) => goers.has(node) || isAnnounced(node)) : []
  const setting = guideSetting(snapshot, announced, marks.setting)
  const nodes = guideNodes({ snapshot, decision, marks, leaving, inForce: setting.inForce })
  return {
    steps: [...setting.steps, ...nodes.steps],
    reverted: nodes.reverted,
    problems: [...setting.problems, ...nodes.problems, ...explainReleased(snapshot, decision, leaving)],
  }
}

/**
 * A node that leaves. One that we asked for leaves until it is uncordoned: while its data moves by that request, Longhorn
 * does not call it automatic, and a drain that waits for the data looks like one that was given up.
 */
function isGuidedAway({ settings }: LonghornSnapshot, node: LonghornNodeView, { nodes }: GuidanceMarks): boolean {
  const asked = nodes.get(node.name)?.asked
  const isBegun = asked?.known === true && isUnderWay(node, asked.value)
  return isLeaving(settings, node) || (node.isCordoned && isBegun)
}

function isUnderWay({ isEvictionAsked, disks }: LonghornNodeView, asked: AskedMark): boolean {
  const isWhole = asked.node !== undefined && !asked.node.isYielded && isEvictionAsked
  return isWhole || disks.some((disk) => disk.isEvictionAsked && asked.disks.get(disk.name)?.isYielded === false)
}

/** Longhorn lets a node go as soon as it is cordoned, and never holds it again then: what is announced is made ready for. */
function isAnnounced({ isDraining, intent }: LonghornNodeView): boolean {
  return isDraining && intent !== undefined
}

/** Nodes that should be held and are not, as when Longhorn was faster, or knows nothing of what a volume wants. */
function explainReleased(
  { budgets, instanceManagers, settings }: LonghornSnapshot,
  decision: LonghornDecision,
  leaving: readonly LonghornNodeView[],
): GuidanceDecision['problems'] {
  // A budget of ours holds it where there is one to be made.
  if (settings.mode === 'hold') return []
  const names = new Set(leaving.map(({ name }) => name))
  return decision.nodes.flatMap(({ node, blockers }) => {
    const replica = blockers.find(({ object }) => object.startsWith('replica/'))
    const running = instanceManagers.filter((manager) => manager.node === node && manager.isRunning)
    const isHeld = running.length === 0 || running.some(({ name }) => budgets.has(name))
    if (replica === undefined || !names.has(node) || isHeld) return []
    const problem = `Longhorn has let it go and makes no budget for a cordoned node, though ${replica.object} should hold it. Let its instance managers run until that has moved; a NodeDisruption puts the wanted policy in force before it cordons`
    return [{ object: `node/${node}`, problem }]
  })
}
