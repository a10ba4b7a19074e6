import { parseDuration } from '@cofferdam/kubernetes/api/duration.ts'
import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { type AnnotatedBudget, appLockAnnotation, lockedSinceAnnotation } from '../../shared/app-lock-annotation.ts'
import {
  type AppLockRecord,
  budgetOfLock,
  heldSinceOf,
  mostAppLockRecords,
  recordsOf,
  roomInNamespace,
  withStamp,
  writtenMsOf,
} from './app-lock-record.ts'

/** A lock that the owner of an application put on a budget: annotation `cofferdam.io/lock`. */
export interface AppLock {
  readonly holder: string
  readonly reason: string
  /** Since when the budget has been locked without a break. */
  readonly sinceMs: number
  /** When this lock was written. */
  readonly writtenMs: number
  /** As it counts: never later than policy allows. */
  readonly untilMs: number
}

/** How much of the cluster's time an owner may take. */
export interface AppLockPolicy {
  /** How long one lock lasts at most. */
  readonly maxTtlMs: number
  /** How long a budget is locked at most, however often the lock is prolonged. */
  readonly maxHoldMs: number
  readonly maxPerNamespace: number
}

export const defaultAppLockPolicy: AppLockPolicy = {
  maxTtlMs: 4 * 3_600_000,
  maxHoldMs: 12 * 3_600_000,
  maxPerNamespace: 5,
}

export interface AppLockContext {
  readonly nowMs: number
  readonly budgetName: string
  readonly policy: AppLockPolicy
  /** When the API server says that it was written. */
  readonly lockWrittenMs?: number | undefined
  /** What the ledger says of the budget. */
  readonly record?: AppLockRecord | undefined
}

/** `incomplete` and, until its end, `capped` lock all the same; the others do not. */
export type AppLockFault = 'unreadable' | 'expired' | 'capped' | 'over-quota' | 'incomplete'

/** A lock that counts, and what is wrong with the annotation; one of them, both, or neither. */
export interface ParsedAppLock {
  readonly lock?: AppLock
  readonly problem?: string
  /** What kind of problem it is; there whenever a problem is. */
  readonly fault?: AppLockFault
}

const longestText = 4096
const longestName = 253
const longestReason = 1024

/**
 * Reads the lock of an owner.
 *
 * Guarantees: never throws; a lock that counts ends, and no later than policy allows, whatever the text says. Once the ledger has a
 * record of it, nothing that is done to the budget puts its end off, but another text in its place.
 */
export function parseAppLock(text: string | undefined, context: AppLockContext): ParsedAppLock {
  if (text === undefined) return {}
  const written = readLock(text, context.nowMs)
  if (typeof written === 'string')
    return { problem: `${said(context)} ${written}; it does not lock`, fault: 'unreadable' }
  const { nowMs, policy, record, lockWrittenMs } = context
  if (written.untilMs <= nowMs)
    return { problem: `${said(context)} expired at ${rfc3339(written.untilMs)}; it does not lock`, fault: 'expired' }
  const writtenMs = writtenMsOf({ nowMs, text, times: [written.sinceMs, lockWrittenMs], record })
  const sinceMs = Math.min(writtenMs, heldSinceOf(record, writtenMs) ?? writtenMs)
  const untilMs = Math.min(written.untilMs, writtenMs + policy.maxTtlMs, sinceMs + policy.maxHoldMs)
  const isOver = untilMs <= nowMs
  const problems = [...written.problems]
  const isCapped = untilMs < written.untilMs
  if (isCapped) {
    const limit = `policy allows ${hours(policy.maxTtlMs)} at a time and ${hours(policy.maxHoldMs)} on end`
    problems.unshift(`${isOver ? 'has ended' : 'ends'} at ${rfc3339(untilMs)}, because ${limit}`)
  }
  const { holder, reason } = written
  return {
    ...(isOver ? {} : { lock: { holder, reason, sinceMs, writtenMs, untilMs } }),
    ...(problems.length === 0
      ? {}
      : { problem: `${said(context)} ${problems.join('; ')}`, fault: isCapped ? 'capped' : 'incomplete' }),
  }
}

/** All that the owners' locks of one namespace depend on. */
export interface AppLockQuestion {
  readonly namespace: string
  /** All budgets of the namespace, or all of them that carry a lock. */
  readonly budgets: readonly AnnotatedBudget[]
  /** All that the ledger has, of every namespace. */
  readonly records: readonly AppLockRecord[]
  readonly policy: AppLockPolicy
  readonly nowMs: number
}

interface JudgedBudget {
  readonly name: string
  readonly result: ParsedAppLock
  readonly isRecorded: boolean
  /** It is locked for longer than those that are not. */
  readonly isHeldOn: boolean
}

interface LockingBudget extends JudgedBudget {
  readonly result: ParsedAppLock & { readonly lock: AppLock }
}

/**
 * The locks of one namespace, by name of the budget; budgets without one are left out. Those that the ledger has held longest
 * count first; what is over quota is reported and locks nothing.
 */
export function judgeAppLocks(question: AppLockQuestion): ReadonlyMap<string, ParsedAppLock> {
  const { policy } = question
  const judged = question.budgets.flatMap((budget) => judgeAlone(question, budget) ?? [])
  const locking = judged.filter(isLocking).sort(byRank)
  const over = new Set<JudgedBudget>(locking.slice(Math.max(0, policy.maxPerNamespace)))
  const newcomers = locking.filter((each) => !over.has(each) && !each.isRecorded)
  const crowdedOut = new Set<JudgedBudget>(newcomers.slice(roomLeft(question)))
  return new Map(
    judged.map((each) => {
      const { name, result } = each
      if (over.has(each))
        return [
          name,
          ignored(name, `one more than the ${policy.maxPerNamespace} locks that its namespace may have at a time`),
        ]
      if (crowdedOut.has(each)) return [name, ignored(name, 'one more than the ledger has room for')]
      return [name, result]
    }),
  )
}

function judgeAlone(question: AppLockQuestion, budget: AnnotatedBudget): JudgedBudget | undefined {
  const { nowMs, policy } = question
  const { name, annotations, lockWrittenMs } = budget
  const text = annotations[appLockAnnotation]
  if (text === undefined) return undefined
  const record = recordOfBudget(question, budget)
  const result = parseAppLock(text, { nowMs, budgetName: name, policy, lockWrittenMs, record })
  const isHeldOn = result.lock !== undefined && heldSinceOf(record, result.lock.writtenMs) !== undefined
  return { name, result, isRecorded: record !== undefined, isHeldOn }
}

/** What the ledger says of a budget, or what is left of an earlier version. */
export function recordOfBudget(
  { namespace, records, nowMs, policy }: Omit<AppLockQuestion, 'budgets'>,
  { name, annotations }: Pick<AnnotatedBudget, 'name' | 'annotations'>,
): AppLockRecord | undefined {
  const budget = budgetOfLock({ namespace, name })
  const record = records.find((each) => each.budget === budget)
  const stamp = annotations[lockedSinceAnnotation]
  return stamp === undefined ? record : withStamp(record, { budget, stamp, nowMs, maxHoldMs: policy.maxHoldMs })
}

function isLocking(judged: JudgedBudget): judged is LockingBudget {
  return judged.result.lock !== undefined
}

/** Those on record first: what a newcomer dates back takes no place from them. */
function byRank(a: LockingBudget, b: LockingBudget): number {
  const since = ({ result }: LockingBudget) => result.lock.sinceMs
  return Number(b.isHeldOn) - Number(a.isHeldOn) || since(a) - since(b) || (a.name < b.name ? -1 : 1)
}

function roomLeft({ namespace, records, policy }: AppLockQuestion): number {
  const inNamespace = roomInNamespace(policy.maxPerNamespace) - recordsOf(records, namespace).length
  return Math.max(0, Math.min(mostAppLockRecords - records.length, inNamespace))
}

function ignored(name: string, why: string): ParsedAppLock {
  return { problem: `annotation ${appLockAnnotation} of ${name} is ${why}; it does not lock`, fault: 'over-quota' }
}

interface WrittenLock {
  readonly holder: string
  readonly reason: string
  readonly sinceMs: number | undefined
  readonly untilMs: number
  readonly problems: readonly string[]
}

function readLock(text: string, nowMs: number): WrittenLock | string {
  if (text.length > longestText) return `has more than ${longestText} characters`
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch {
    return 'is not JSON'
  }
  if (!isJsonObject(fields)) return 'is no JSON object'
  const since = timeOf(fields, 'since')
  if (since.problem !== undefined) return since.problem
  // Whoever dates the beginning ahead would lengthen the lock by as much.
  const sinceMs = since.ms === undefined ? undefined : Math.min(since.ms, nowMs)
  const until = endOf(fields, sinceMs)
  if (typeof until === 'string') return until
  const problems: string[] = []
  const textOf = (field: 'holder' | 'reason', instead: string, longest: number) => {
    const value = fields[field]
    if (typeof value === 'string' && value.trim() !== '') return value.trim().slice(0, longest)
    problems.push(`names no ${field}`)
    return instead
  }
  const holder = textOf('holder', 'the owner of the budget', longestName)
  return { holder, reason: textOf('reason', 'no reason given', longestReason), sinceMs, untilMs: until, problems }
}

function endOf(fields: JsonObject, sinceMs: number | undefined): number | string {
  const until = timeOf(fields, 'until')
  if (until.problem !== undefined) return until.problem
  const lasting = fields['for']
  if (lasting === undefined) return until.ms ?? 'says neither "until" when nor "for" how long'
  if (until.ms !== undefined) return 'says both "until" and "for"'
  if (sinceMs === undefined) return 'says "for" without "since"'
  const ms = typeof lasting === 'string' ? parseDuration(lasting) : undefined
  return ms === undefined ? '"for" is no duration such as "2h" or "90m"' : sinceMs + ms
}

function timeOf(fields: JsonObject, field: 'since' | 'until'): { readonly ms?: number; readonly problem?: string } {
  const value = fields[field]
  if (value === undefined) return {}
  const ms = typeof value === 'string' ? parseRfc3339(value) : undefined
  return ms === undefined ? { problem: `"${field}" is no time such as 2026-01-31T12:00:00Z` } : { ms }
}

const msPerMinute = 60_000

function said({ budgetName }: AppLockContext): string {
  return `annotation ${appLockAnnotation} of ${budgetName}`
}

function hours(ms: number): string {
  const total = Math.round(ms / msPerMinute)
  const [whole, minutes] = [Math.floor(total / 60), total % 60]
  if (minutes === 0) return `${whole} h`
  return whole === 0 ? `${minutes} min` : `${whole} h ${minutes} min`
}
