import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { BreakGlass } from '../../../ledger/rules/break-glass.ts'
import type { Claim } from '../../../ledger/rules/claim.ts'
import { budgetKey } from '../../../ledger/rules/keys.ts'
import type { LedgerEntry, Obstacle } from '../../../ledger/rules/ledger.ts'
import type { DisruptionBlocker, DisruptionDecision, DisruptionWarning } from './decision.ts'
import {
  type Conclusion,
  type DisruptionView,
  goOn,
  markedBudgets,
  recordSteps,
  soonMs,
  unlockSteps,
  withRecord,
} from './disruption-view.ts'

/** What is held by others, or was asked for earlier, of what a request needs. */
type Found = Obstacle | LedgerEntry

/** Only when nothing else stands in the way: a lock is not broken for somebody who could not go anyway. */
export function breakGlass(
  view: DisruptionView,
  {
    claims,
    found,
    warnings,
  }: { claims: readonly Claim[]; found: readonly Found[]; warnings: readonly DisruptionWarning[] },
): DisruptionDecision {
  const { by, reason } = view.request.breakGlass as BreakGlass
  const keys = [...new Set(found.map(({ key }) => key))]
  const broken = keys.map((key) => {
    const holders = found.filter((each) => each.key === key).map(({ holder, requestId }) => holder || requestId)
    return { key, holders: [...new Set(holders)].join(' and ') }
  })
  return goOn(view, {
    reason: 'BreakGlass',
    explanation: `${by} breaks ${broken.map(({ key, holders }) => `${key} of ${holders}`).join(', ')}: ${reason}.`,
    steps: [
      { step: 'break', keys, by, reason },
      { step: 'take', claims },
    ],
    warnings: [
      ...warnings,
      ...broken.map(({ key, holders }) => ({ object: key, says: `taken from ${holders} by ${by}: ${reason}` })),
    ],
  })
}

/**
 * What other overrides have taken from this request of what it needs. Of two that need the same the later one has it: who took it back would
 * lose it again, without an end.
 */
export function takenByOverride({ ledger, snapshot }: DisruptionView, needed: readonly Found[]): DisruptionWarning[] {
  const requestOf = (holder: string) => holder.slice(holder.indexOf(' for '))
  return needed.flatMap(({ key, since }) => {
    const taken = ledger.broken.findLast(
      (each) => each.key === key && requestOf(each.formerHolder) === requestOf(snapshot.holder),
    )
    if (taken === undefined || !isHeldSince(since, taken.at)) return []
    const says = `was taken by the override of ${taken.by} (${taken.reason}), and this one does not take it back: delete the request that has it if this one is to go first`
    return [{ object: key, says }]
  })
}

/** Whoever breaks a lock has it at once. Who has it since later is somebody else, after the override had ended. */
function isHeldSince(since: string, broken: string): boolean {
  const passedMs = (parseRfc3339(since) ?? Number.NaN) - (parseRfc3339(broken) ?? Number.NaN)
  return passedMs >= 0 && passedMs < soonAfterMs
}

const soonAfterMs = 10_000

/** What a lock has reserved is there again when that is broken. A budget that is exhausted without one would stop the override. */
export function isReserved({ snapshot: { budgets } }: DisruptionView, { object }: DisruptionBlocker): boolean {
  return budgets.some((budget) => budgetKey(budget) === object && budget.hold !== undefined)
}

/** Whether it is a budget that has nothing to give, or may have when it is counted: neither is broken, and both can pass. */
export function isOfBudget({ reason }: DisruptionBlocker): boolean {
  return reason === 'BudgetExhausted' || reason === 'BudgetNotCounted'
}

/**
 * Under an override the keys are kept while a budget has nothing to give: one that was locked by somebody else until now is counted anew
 * first, and whoever gave back what it had broken would break it again at once.
 */
export function keepBroken(
  view: DisruptionView,
  waiting: Required<Pick<Conclusion, 'record' | 'blockedBy' | 'warnings'>>,
): DisruptionDecision {
  const { nodeName, breakGlass: glass } = view.request
  const [{ object, reason }] = waiting.blockedBy as readonly [DisruptionBlocker]
  const record = withRecord(waiting.record, { lockedAtMs: undefined })
  return goOn(view, {
    ...waiting,
    reason,
    explanation: `${nodeName} waits for ${object}, which an override does not break; what the request holds is kept for it until ${rfc3339((glass as BreakGlass).untilMs)}.`,
    record,
    steps: [...recordSteps(view, record), ...unlockSteps(markedBudgets(view))],
    recheckAfterMs: soonMs,
  })
}
