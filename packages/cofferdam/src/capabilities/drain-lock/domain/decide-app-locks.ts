import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import {
  type AppLock,
  type AppLockFault,
  type AppLockPolicy,
  appLockAnnotation,
  judgeAppLocks,
  type ParsedAppLock,
  parseAppLock,
} from '../../../ledger/rules/app-lock.ts'
import { type AnnotatedBudget, lockedSinceAnnotation } from '../../../ledger/rules/app-locks.ts'
import type { Reason } from '../../../shared/reasons.ts'

/** How long a budget must be free of its owner's lock before the next one counts from the beginning. */
export const appLockRestMs = 10 * 60_000

/** A time in which the owner had a budget locked; a break shorter than the rest does not end it. */
interface Hold {
  readonly sinceMs: number
  /** The annotation that locked it last. */
  readonly text: string | undefined
  /** Undefined for what was found ended. */
  readonly lock: AppLock | undefined
  /** Undefined while it locks. */
  readonly endedMs: number | undefined
}

/** What is remembered of a budget from the last pass. */
export interface AppLockMemory {
  readonly hold: Hold | undefined
  /** The fault that was reported last, with the text it was found in. */
  readonly reported: string
}

export interface AppLockSnapshot {
  readonly nowMs: number
  readonly policy: AppLockPolicy
  readonly restMs: number
  /** All budgets of one namespace. */
  readonly budgets: readonly (AnnotatedBudget & { readonly uid: string })[]
  /** By uid of the budget; undefined when the namespace was not reconciled yet. */
  readonly memory: ReadonlyMap<string, AppLockMemory> | undefined
}

export interface AppLockChange {
  readonly type: 'Normal' | 'Warning'
  readonly reason: Reason
  readonly note: string
}

/** What is to be done about one budget. */
export interface AppLockStep {
  readonly name: string
  readonly uid: string
  /** What `cofferdam.io/locked-since` is to say; null takes it away, undefined leaves it as it is. */
  readonly stamp: string | null | undefined
  readonly changes: readonly AppLockChange[]
  /** Undefined when nothing of it need be remembered. */
  readonly memory: AppLockMemory | undefined
}

export interface AppLockDecision {
  /** Only of budgets that carry or carried something of a lock. */
  readonly steps: readonly AppLockStep[]
  /** When something ends or begins without anybody writing. */
  readonly recheckAfterMs: number | undefined
}

type Seen = Pick<AppLockSnapshot, 'nowMs' | 'policy' | 'restMs'> & { readonly isFirstPass: boolean }

interface SeenBudget {
  readonly name: string
  readonly uid: string
  readonly text: string | undefined
  readonly stamp: string | undefined
  readonly stampMs: number | undefined
  readonly memory: AppLockMemory | undefined
}

/**
 * Keeps the owners' locks of one namespace honest: since when each budget has been locked is written on it, and what
 * begins, ends or does not count is reported once.
 *
 * Guarantees: never throws. The beginning of a hold never moves forward while the hold lasts, whatever is done to the
 * annotations; a lock that `maxHoldMs` ended does not begin anew by itself.
 * Assumes: it is asked again with the memory of its own steps.
 */
export function decideAppLocks(snapshot: AppLockSnapshot): AppLockDecision {
  const { nowMs, policy } = snapshot
  const seen: Seen = { ...snapshot, isFirstPass: snapshot.memory === undefined }
  const budgets = snapshot.budgets
    .map((budget) => seenBudget(budget, snapshot))
    .filter(({ text, stamp, memory }) => text !== undefined || stamp !== undefined || memory !== undefined)
  const since = new Map(budgets.map((budget) => [budget.name, heldSinceMs(seen, budget)]))
  const judged = judgeAppLocks(
    budgets.map(({ name, text }) => ({ name, text, ...timed(since.get(name)) })),
    policy,
    nowMs,
  )
  const outcomes = budgets.map((budget) =>
    judgeOne(seen, budget, { ...judged.get(budget.name) }, since.get(budget.name)),
  )
  const waits = outcomes.flatMap(({ recheckMs }) => recheckMs).filter((ms) => ms > 0)
  return {
    steps: outcomes.map(({ step }) => step),
    recheckAfterMs: waits.length === 0 ? undefined : Math.min(...waits),
  }
}

function seenBudget(
  { name, uid, annotations }: AppLockSnapshot['budgets'][number],
  { nowMs, memory }: AppLockSnapshot,
): SeenBudget {
  const stamp = annotations[lockedSinceAnnotation]
  const stampMs = parseRfc3339(stamp ?? '')
  return {
    name,
    uid,
    text: annotations[appLockAnnotation],
    stamp,
    stampMs: stampMs === undefined || stampMs > nowMs ? undefined : stampMs,
    memory: memory?.get(uid),
  }
}

function timed(ms: number | undefined): { readonly heldSinceMs?: number } {
  return ms === undefined ? {} : { heldSinceMs: ms }
}

function endOf({ endedMs, lock }: Hold, nowMs: number): number | undefined {
  if (endedMs !== undefined) return endedMs
  return lock !== undefined && lock.untilMs <= nowMs ? lock.untilMs : undefined
}

/** Since when the budget counts as locked, if it is. */
function heldSinceMs({ nowMs, restMs }: Seen, { text, stampMs, memory }: SeenBudget): number | undefined {
  const hold = memory?.hold
  if (hold === undefined) return stampMs
  const endedMs = endOf(hold, nowMs)
  const isTheSame = endedMs === undefined || nowMs - endedMs < restMs || (text !== undefined && text === hold.text)
  if (isTheSame) return Math.min(hold.sinceMs, stampMs ?? hold.sinceMs)
  return stampMs !== undefined && stampMs > endedMs ? stampMs : undefined
}

interface BudgetOutcome {
  readonly step: AppLockStep
  readonly recheckMs: readonly number[]
}

function judgeOne(seen: Seen, budget: SeenBudget, judged: ParsedAppLock, sinceMs: number | undefined): BudgetOutcome {
  const { name, uid } = budget
  const { hold, stamp, recheckMs } =
    judged.lock === undefined
      ? afterLock(seen, budget, judged, sinceMs)
      : whileLocked(seen, budget, judged.lock, sinceMs)
  const reported = judged.fault === undefined ? '' : `${judged.fault} ${budget.text}`
  const changes = changesOf(seen, budget, judged, reported)
  const memory = hold === undefined && reported === '' ? undefined : { hold, reported }
  return { step: { name, uid, stamp, changes, memory }, recheckMs }
}

interface HoldStep {
  readonly hold: Hold | undefined
  readonly stamp: string | null | undefined
  readonly recheckMs: readonly number[]
}

function whileLocked(seen: Seen, budget: SeenBudget, lock: AppLock, heldSince: number | undefined): HoldStep {
  const sinceMs = heldSince ?? Math.floor(seen.nowMs / 1000) * 1000
  return {
    hold: { sinceMs, text: budget.text, lock, endedMs: undefined },
    stamp: stampFor(budget, sinceMs),
    recheckMs: [lock.untilMs - seen.nowMs],
  }
}

function afterLock(seen: Seen, budget: SeenBudget, { fault }: ParsedAppLock, heldSince: number | undefined): HoldStep {
  const { nowMs, restMs } = seen
  const { text, stamp } = budget
  const hold = budget.memory?.hold ?? foundHold(seen, budget)
  // An end too far away comes nearer, and one day the lock counts.
  const nearing = fault === 'capped' ? [cappedRecheckMs] : []
  if (hold === undefined) return { hold, stamp: stamp === undefined ? undefined : null, recheckMs: nearing }
  const endedMs = endOf(hold, nowMs) ?? nowMs
  const restLeftMs = endedMs + restMs - nowMs
  const ended = { ...hold, sinceMs: Math.min(hold.sinceMs, heldSince ?? hold.sinceMs), endedMs }
  const recheckMs = [restLeftMs, ...nearing]
  if (heldSince !== undefined && fault === 'capped' && isKeptDownBySince(seen, budget)) {
    return { hold: ended, stamp: stampFor(budget, heldSince), recheckMs }
  }
  if (restLeftMs > 0) return { hold: ended, stamp: undefined, recheckMs }
  return {
    hold: text === undefined ? undefined : ended,
    stamp: stamp === undefined ? undefined : null,
    recheckMs: nearing,
  }
}

const cappedRecheckMs = 60_000

/** For the time before the first pass only the stamp counts. */
function foundHold({ nowMs, policy }: Seen, { text, stampMs }: SeenBudget): Hold | undefined {
  if (stampMs === undefined) return undefined
  return { sinceMs: stampMs, text, lock: undefined, endedMs: Math.min(nowMs, stampMs + policy.maxHoldMs) }
}

/** Whether the lock would begin anew if it were not written down since when it has been held. */
function isKeptDownBySince({ nowMs, policy }: Seen, { name, text }: SeenBudget): boolean {
  return parseAppLock(text, { nowMs, budgetName: name, policy }).lock !== undefined
}

function stampFor({ stampMs }: SeenBudget, sinceMs: number): string | undefined {
  return stampMs === sinceMs ? undefined : rfc3339(sinceMs)
}

const reasonOf: Readonly<Partial<Record<AppLockFault, Reason>>> = {
  unreadable: 'AppLockUnreadable',
  expired: 'AppLockExpired',
  capped: 'AppLockCapped',
  'over-quota': 'AppLockOverQuota',
}

function changesOf(
  seen: Seen,
  budget: SeenBudget,
  { lock, fault, problem }: ParsedAppLock,
  reported: string,
): AppLockChange[] {
  const { memory, text, stampMs } = budget
  const hold = memory?.hold
  const former = hold?.endedMs === undefined ? hold?.lock : undefined
  const changes: AppLockChange[] = []
  // The leader before this one has reported it.
  const isKnownAlready = seen.isFirstPass && stampMs !== undefined
  if (lock !== undefined && former?.holder !== lock.holder && !isKnownAlready) {
    const note = `${lock.holder} has locked it until ${rfc3339(lock.untilMs)}: ${lock.reason}`
    changes.push({ type: 'Normal', reason: 'AppLocked', note })
  }
  if (lock === undefined && former !== undefined) {
    const why = text === undefined ? 'it was removed' : (problem ?? 'it is ignored now')
    const note = `The lock of ${former.holder} (${former.reason}) has ended: ${why}`
    changes.push({ type: 'Normal', reason: 'AppLockEnded', note })
  }
  const reason = fault === undefined ? undefined : reasonOf[fault]
  const isReportedAsEnd = fault === 'expired' && former !== undefined
  if (reason !== undefined && reported !== memory?.reported && !isReportedAsEnd) {
    changes.push({ type: 'Warning', reason, note: `${problem?.slice(0, 1).toUpperCase()}${problem?.slice(1)}` })
  }
  return changes
}
