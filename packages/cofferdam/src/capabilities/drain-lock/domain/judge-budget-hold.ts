import { percentOf } from '@cofferdam/kubernetes/api/int-or-string.ts'
import type { DrainLockSettings } from '../../../ledger/rules/drain-lock-settings.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { BudgetFacts, BudgetHold } from './snapshot.ts'

export interface HoldQuestion {
  readonly budget: BudgetFacts
  /** The names of the pods that stay, all of them covered by the budget. */
  readonly pods: readonly string[]
  readonly requestId: string
  /** Undefined while nothing is granted. */
  readonly epoch: number | undefined
  readonly nowMs: number
  readonly settings: DrainLockSettings
  /** Since when all budgets have been seen locked, for `settle`. */
  readonly lockedAtMs: number | undefined
  readonly breaksGlass: boolean
  /** The intent is written: what holds is kept, and nothing is asked that only matters before. */
  readonly isBound: boolean
}

/**
 * `locked`: held for these pods, long enough ahead. `lockable`: not (long enough), and a lock would go through now.
 * `pending`: our lock has been written and is not in effect yet. `refused`: a lock would not go through now.
 */
export type HoldState = 'locked' | 'lockable' | 'pending' | 'refused'

export interface HoldJudgement {
  readonly state: HoldState
  /** Whether the pods may be away: the application has what it needs without them. */
  readonly isSafe: boolean
  /** Why it is refused, or not safe. */
  readonly reason: Reason | undefined
}

const safe: HoldJudgement = { state: 'locked', isSafe: true, reason: undefined }
const lockable: HoldJudgement = { state: 'lockable', isSafe: false, reason: undefined }
const unsafe: HoldJudgement = { state: 'locked', isSafe: false, reason: 'BudgetExhausted' }
const pending: HoldJudgement = { state: 'pending', isSafe: false, reason: 'BudgetNotCounted' }
const settling: HoldJudgement = { state: 'pending', isSafe: false, reason: 'BudgetsSettling' }
const notCounted: HoldJudgement = { state: 'refused', isSafe: false, reason: 'BudgetNotCounted' }
const exhausted: HoldJudgement = { state: 'refused', isSafe: false, reason: 'BudgetExhausted' }
const appLocked: HoldJudgement = { state: 'refused', isSafe: false, reason: 'AppLocked' }

/**
 * Whether a budget holds for the pods that stay, or could be made to.
 *
 * Fails closed: a status that does not answer for the present spec is no ground to act on.
 */
export function judgeBudgetHold(question: HoldQuestion): HoldJudgement {
  const { budget, nowMs, settings, breaksGlass, isBound } = question
  if (!breaksGlass && !isBound && isAppLocked(budget, nowMs)) return appLocked
  if (settings.mode === 'reserve') return judgeReservation(question)
  return settings.mode === 'spec' ? judgeLoweredSpec(question) : judgeSettled(question)
}

export function isAppLocked({ appLock }: Pick<BudgetFacts, 'appLock'>, nowMs: number): boolean {
  return appLock !== undefined && appLock.untilMs > nowMs
}

/**
 * The status counts every pod that it names as gone: at once in the allowed disruptions, and with the next count in what is
 * healthy. So a reservation that went through is safe for as long as enough are healthy.
 */
function judgeReservation(question: HoldQuestion): HoldJudgement {
  const { budget, pods, nowMs, settings } = question
  const { isCounted, disruptionsAllowed, disruptedUntilMs } = budget
  let missing = 0
  let isFresh = isMarked(question)
  for (const pod of pods) {
    const untilMs = disruptedUntilMs[pod]
    if (untilMs === undefined) missing += 1
    if (untilMs === undefined || untilMs < nowMs + settings.reservationMs / 2) isFresh = false
  }
  // What stands in the status may be dated anew whatever the count says; nothing more is taken.
  if (!isCounted) return missing === 0 && !isFresh ? lockable : notCounted
  if (missing > 0 && disruptionsAllowed < missing) return exhausted
  if (!isFresh) return lockable
  return budget.currentHealthy >= budget.desiredHealthy && disruptionsAllowed >= 0 ? safe : unsafe
}

function judgeLoweredSpec(question: HoldQuestion): HoldJudgement {
  const { budget, pods, nowMs } = question
  const { hold, isCounted, disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods } = budget
  const limit = hold?.formerLimit
  const isOwn = limit !== undefined && isMarked(question)
  if (!isCounted) return isOwn ? pending : notCounted
  const isLowered = limit !== undefined && desiredHealthy >= expectedPods
  if (!isLowered) return disruptionsAllowed < pods.length ? exhausted : lockable
  if (!isOwn) return lockable
  const isQuiet = Object.values(budget.disruptedUntilMs).every((untilMs) => untilMs <= nowMs)
  return isQuiet && currentHealthy - pods.length >= desiredUnder(limit, expectedPods) ? safe : unsafe
}

function judgeSettled(question: HoldQuestion): HoldJudgement {
  const { budget, pods, nowMs, settings, lockedAtMs, isBound } = question
  const { isCounted, disruptionsAllowed, currentHealthy, desiredHealthy } = budget
  if (isBound) return isMarked(question) ? safe : lockable
  if (!isCounted) return notCounted
  if (disruptionsAllowed < pods.length) return exhausted
  if (!isMarked(question)) return lockable
  if (lockedAtMs === undefined || nowMs < lockedAtMs + settings.settleMs) return settling
  return currentHealthy - pods.length >= desiredHealthy ? safe : unsafe
}

function isMarked({ budget: { hold }, requestId, epoch, nowMs, settings }: HoldQuestion): boolean {
  return (
    hold !== undefined &&
    hold.requestId === requestId &&
    hold.epoch === epoch &&
    hold.untilMs >= nowMs + settings.reservationMs / 2
  )
}

/** How many pods the budget wants healthy when it is not lowered for us. */
export function desiredWhenFree({ hold, desiredHealthy, expectedPods }: BudgetFacts): number {
  const isLowered = hold?.formerLimit !== undefined && desiredHealthy >= expectedPods
  return isLowered ? desiredUnder(hold.formerLimit, expectedPods) : desiredHealthy
}

/** How many pods the budget wanted healthy before it was lowered. A limit that cannot be read wanted them all. */
function desiredUnder({ minAvailable, maxUnavailable }: NonNullable<BudgetHold['formerLimit']>, all: number): number {
  if (maxUnavailable !== undefined) return Math.max(0, all - (countOf(maxUnavailable, all) ?? 0))
  return minAvailable === undefined ? all : (countOf(minAvailable, all) ?? all)
}

function countOf(limit: number | string, all: number): number | undefined {
  if (typeof limit === 'number') return limit
  const percent = percentOf(limit)
  return percent === undefined ? undefined : Math.ceil((percent * all) / 100)
}
