import { parseDuration } from '@cofferdam/kubernetes/api/duration.ts'
import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'

/** A lock that the owner of an application put on a budget: annotation `cofferdam.io/lock`. */
export interface AppLock {
  readonly holder: string
  readonly reason: string
  /** As it counts: never later than policy allows. */
  readonly untilMs: number
}

export const appLockAnnotation = 'cofferdam.io/lock'

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
  /** Since when the budget has been locked without a break. */
  readonly heldSinceMs?: number
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
 * Guarantees: never throws; a lock that counts ends, and no later than policy allows, whatever the text says.
 */
export function parseAppLock(text: string | undefined, context: AppLockContext): ParsedAppLock {
  if (text === undefined) return {}
  const written = readLock(text, context.nowMs)
  if (typeof written === 'string')
    return { problem: `${said(context)} ${written}; it does not lock`, fault: 'unreadable' }
  const { nowMs, policy } = context
  // Dated ahead, it would put off the end by as much.
  const heldSinceMs = (context.heldSinceMs ?? nowMs) > nowMs ? undefined : context.heldSinceMs
  if (written.untilMs <= nowMs)
    return { problem: `${said(context)} expired at ${rfc3339(written.untilMs)}; it does not lock`, fault: 'expired' }
  // Without a beginning, an end that is always too far away would be cut to the same length again for ever.
  if (written.sinceMs === undefined && heldSinceMs === undefined && written.untilMs > nowMs + policy.maxTtlMs) {
    return {
      problem: `${said(context)} ends more than ${hours(policy.maxTtlMs)} from now; it does not lock until then`,
      fault: 'capped',
    }
  }
  const untilMs = Math.min(
    written.untilMs,
    (written.sinceMs ?? nowMs) + policy.maxTtlMs,
    (heldSinceMs ?? nowMs) + policy.maxHoldMs,
  )
  const isOver = untilMs <= nowMs
  const problems = [...written.problems]
  const isCapped = untilMs < written.untilMs
  if (isCapped) {
    const limit = `policy allows ${hours(policy.maxTtlMs)} at a time and ${hours(policy.maxHoldMs)} on end`
    problems.unshift(`${isOver ? 'has ended' : 'ends'} at ${rfc3339(untilMs)}, because ${limit}`)
  }
  return {
    ...(isOver ? {} : { lock: { holder: written.holder, reason: written.reason, untilMs } }),
    ...(problems.length === 0
      ? {}
      : { problem: `${said(context)} ${problems.join('; ')}`, fault: isCapped ? 'capped' : 'incomplete' }),
  }
}

/** One budget of a namespace, with its annotation as it stands. */
export interface LockableBudget {
  readonly name: string
  readonly text: string | undefined
  readonly heldSinceMs?: number
}

/**
 * The locks of one namespace, by name of the budget. Those that have been held longest count first; what is over quota is
 * reported and locks nothing.
 */
export function judgeAppLocks(
  budgets: readonly LockableBudget[],
  policy: AppLockPolicy,
  nowMs: number,
): ReadonlyMap<string, ParsedAppLock> {
  const parsed = budgets.map(({ name, text, heldSinceMs }) => {
    const context = { nowMs, budgetName: name, policy, ...(heldSinceMs === undefined ? {} : { heldSinceMs }) }
    return { name, since: heldSinceMs ?? nowMs, result: parseAppLock(text, context) }
  })
  const locking = parsed
    .filter(({ result }) => result.lock !== undefined)
    .sort((a, b) => a.since - b.since || (a.name < b.name ? -1 : 1))
  const over = new Set(locking.slice(Math.max(0, policy.maxPerNamespace)).map(({ name }) => name))
  return new Map(
    parsed.map(({ name, result }) => {
      if (!over.has(name)) return [name, result]
      const problem = `annotation ${appLockAnnotation} of ${name} is one more than the ${policy.maxPerNamespace} locks that its namespace may have at a time; it does not lock`
      return [name, { problem, fault: 'over-quota' }]
    }),
  )
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
const msPerHour = 60 * msPerMinute

function said({ budgetName }: AppLockContext): string {
  return `annotation ${appLockAnnotation} of ${budgetName}`
}

function hours(ms: number): string {
  const whole = Math.floor(ms / msPerHour)
  const minutes = Math.round((ms - whole * msPerHour) / msPerMinute)
  return `${whole > 0 || minutes === 0 ? `${whole} h` : ''}${whole > 0 && minutes > 0 ? ' ' : ''}${minutes > 0 ? `${minutes} min` : ''}`
}
