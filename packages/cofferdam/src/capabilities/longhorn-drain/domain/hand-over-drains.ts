import { type HandOverCheck, ok, warning } from '../../../shared/hand-over.ts'
import type { ReplicaBlocker } from './decision.ts'
import type { GuidanceDecision } from './guidance-decision.ts'
import { parseGuidanceMarks } from './guidance-marks.ts'
import type { DecidedLonghorn, HandOverStates, LonghornHandOverSnapshot } from './hand-over-snapshot.ts'
import { namesText } from './names-text.ts'
import { drainPolicySetting } from './policy.ts'
import { rehearseDrains } from './rehearse-drains.ts'

/** Nodes that are cordoned or drained now, and what the hand-over changes for them. */
export function drainsCheck({ direction }: LonghornHandOverSnapshot, states: HandOverStates): HandOverCheck {
  const leaving = states.now.decision.nodes.map(({ node }) => node)
  if (leaving.length === 0) return ok('drains', 'none in progress')
  const changed = direction === 'adopt' ? changedByAdopt(states) : changedByRelease(states)
  return warning('drains', [`in progress for ${namesText(leaving)}`, ...changed].join('. '))
}

function changedByAdopt({ asked, settled }: HandOverStates): string[] {
  const held = settled.decision.nodes.filter(({ mayDrain }) => !mayDrain)
  const marks = new Set(markProblems(asked))
  const released = asked.guidance.problems.filter((each) => !marks.has(each))
  return [
    ...asked.guidance.steps.map(({ explanation }) => withoutStop(explanation)),
    ...released.map(({ object, problem }) => `${object}: ${problem}`),
    ...held.slice(0, 3).map(({ node, explanation }) => `${node} is held: ${withoutStop(explanation)}`),
  ]
}

/** Of what a guide finds, that which is about its own marks; the rest is about nodes that are not held as they should be. */
export function markProblems({ objects, guidance }: DecidedLonghorn): GuidanceDecision['problems'] {
  const { nodes } = parseGuidanceMarks(objects)
  const unusable = [...nodes].filter(([, { asked }]) => asked?.known === false).map(([name]) => `node/${name}`)
  const objectsMeant = new Set([...unusable, `setting/${drainPolicySetting}`])
  return guidance.problems.filter(({ object }) => objectsMeant.has(object))
}

/** What Cofferdam holds, and Longhorn lets go; and which moves end because nothing asks for them any more. */
function changedByRelease({ now, settled }: HandOverStates): string[] {
  const free = new Set(nodesOf(settled, true))
  const released = nodesOf(now, false).filter((node) => free.has(node))
  const bare = bareNodes(settled)
  const { inForce } = settled.snapshot.settings
  const policy = inForce.known ? inForce.value : 'its own policy'
  const stopped = stoppedMoves(now, settled)
  return [
    ...(released.length === 0
      ? []
      : [`Longhorn releases ${namesText(released)} under ${policy}: what holds them now counts no more`]),
    ...(bare.length === 0
      ? []
      : [
          `Longhorn has no budget for ${namesText(bare)}, and makes none for a cordoned node: nothing holds what it should hold there`,
        ]),
    ...(released.length + bare.length === 0 ? [`Longhorn holds the same nodes under ${policy}`] : []),
    ...(stopped.length === 0 ? [] : [`Replicas stop moving off ${namesText(stopped)}`]),
  ]
}

/** Nodes that Longhorn should hold and has let go before: a budget of Cofferdam holds them now. */
function bareNodes({ snapshot, decision }: DecidedLonghorn): string[] {
  const bare = decision.budgets.filter(
    ({ instanceManager, wanted }) => wanted === 'present' && !snapshot.longhornBudgets.has(instanceManager),
  )
  const cordoned = new Set(snapshot.nodes.filter(({ isCordoned }) => isCordoned).map(({ name }) => name))
  return [...new Set(bare.map(({ node }) => node))].filter((node) => cordoned.has(node))
}

function nodesOf({ decision }: DecidedLonghorn, mayDrain: boolean): string[] {
  return decision.nodes.filter((answer) => answer.mayDrain === mayDrain).map(({ node }) => node)
}

/** Nodes with replicas that are moving now and need not once everything is put back. */
function stoppedMoves({ snapshot }: DecidedLonghorn, { decision }: DecidedLonghorn): string[] {
  const going = new Set(decision.evictions.filter(({ isRequested }) => isRequested).map(({ replica }) => replica))
  const stopped = snapshot.replicas.filter(({ name, isEvictionRequested }) => isEvictionRequested && !going.has(name))
  return [...new Set(stopped.map(({ node }) => node))]
}

/** What a drain of each other node would meet, by the annotations as they are after the patch. */
export function preflightCheck({ settled }: HandOverStates): HandOverCheck {
  const rehearsed = rehearseDrains(settled.snapshot)
  const held = rehearsed.filter(({ lasting }) => lasting.length > 0)
  const moving = rehearsed.filter(({ lasting, passing }) => lasting.length === 0 && passing.length > 0).length
  const waits = moving === 0 ? '' : `, ${moving} only until replicas have moved and pods have left`
  if (held.length === 0) return ok('preflight', `${rehearsed.length} nodes can be drained one at a time${waits}`)
  const reasons = held
    .slice(0, 3)
    .map(({ node, lasting }) => `${node}: ${withoutStop((lasting[0] as ReplicaBlocker).explanation)}`)
  const more = held.length > 3 ? [`and ${held.length - 3} more`] : []
  const says = `${held.length} of ${rehearsed.length} nodes would be held in a drain${waits}: ${[...reasons, ...more].join('; ')}`
  return warning('preflight', says, { wayOut: `cofferdam explain node/${held[0]?.node} shows the ways out` })
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '')
}
