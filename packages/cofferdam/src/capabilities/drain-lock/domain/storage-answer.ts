import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { DisruptionBlocker, DisruptionDecision } from './decision.ts'
import { type Conclusion, type DisruptionView, goOn, type HeldKeys, recordSteps, soonMs } from './disruption-view.ts'

const answerMs = 15_000

/**
 * What storage says can change with the grant itself: the other failure domains are held for it only then. Whoever gave it back at once would ask
 * for it again at once, as long as nothing is known.
 */
export function isStorageToAnswer(
  { nowMs }: DisruptionView,
  held: HeldKeys,
  blockedBy: readonly DisruptionBlocker[],
): boolean {
  const heldMs = nowMs - (parseRfc3339(held.since) ?? 0)
  const isUnknown = ({ object, reason }: DisruptionBlocker) =>
    reason === 'SafetyUnknown' && held.entries.some(({ key }) => key === object)
  return blockedBy.length > 0 && blockedBy.every(isUnknown) && heldMs >= 0 && heldMs < answerMs
}

/** Nothing of the node is touched meanwhile. */
export function keepForAnswer(
  view: DisruptionView,
  waiting: Required<Pick<Conclusion, 'record' | 'blockedBy' | 'warnings'>>,
): DisruptionDecision {
  const objects = waiting.blockedBy.map(({ object }) => object).join(', ')
  return goOn(view, {
    ...waiting,
    reason: 'SafetyUnknown',
    explanation: `All holds for ${view.request.nodeName} are acquired; ${objects} has to answer for it since then.`,
    steps: recordSteps(view, waiting.record),
    recheckAfterMs: soonMs,
  })
}
