import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'

/**
 * What the ledger says of a budget that its owner has locked, or had locked a moment ago. Owners may not write the ledger,
 * so nothing that is done to the budget moves these times.
 */
export interface AppLockRecord {
  /** `shop/orders`: deleted and created again it is the same to its owner. */
  readonly budget: string
  /** Which text locked it last: `markOf`. */
  readonly text: string
  /** Since when it has been locked without a break. */
  readonly since: string
  /** When that text was written. */
  readonly written: string
  /** When that lock ends, or has ended. */
  readonly until: string
}

/** How long a budget must be free of its owner's lock before the next one counts from the beginning. */
export const appLockRestMs = 10 * 60_000

/** How many the ledger has room for: in the cluster, and at least in each namespace. */
export const mostAppLockRecords = 500
const leastRoom = 50

/** How many budgets of one namespace the ledger has room for, those included whose locks have just ended. */
export function roomInNamespace(maxPerNamespace: number): number {
  return Math.max(leastRoom, 2 * maxPerNamespace)
}

export function budgetOfLock({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`
}

export function recordsOf(records: readonly AppLockRecord[], namespace: string): readonly AppLockRecord[] {
  return records.filter(({ budget }) => budget.startsWith(`${namespace}/`))
}

/**
 * Tells texts apart. Two that share a mark count as one, which can only shorten a lock, so it need not withstand attempts to find
 * such; the page computes it in browsers.
 */
export function markOf(text: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57]
  for (const character of text) {
    const code = character.codePointAt(0) as number
    high = Math.imul(high ^ code, 2654435761)
    low = Math.imul(low ^ code, 1597334677)
  }
  return [high, low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
}

/** When the lock of a text began, in whole seconds: the earliest time that anything says, and never later than now. */
export function writtenMsOf({
  nowMs,
  text,
  times,
  record,
}: {
  readonly nowMs: number
  readonly text: string
  /** What the text and the budget say; an owner can write anything there. */
  readonly times: readonly (number | undefined)[]
  readonly record: AppLockRecord | undefined
}): number {
  const recorded = record?.text === markOf(text) ? parseRfc3339(record.written) : undefined
  const earliest = Math.min(nowMs, ...[...times, recorded].filter((ms) => ms !== undefined))
  return Math.floor(earliest / 1000) * 1000
}

/**
 * Since when a budget has been locked without a break, by the ledger; undefined: its lock is the first, or the first after a rest.
 * What counts is when the lock was written: the same whoever judges it, and whenever.
 */
export function heldSinceOf(record: AppLockRecord | undefined, writtenMs: number): number | undefined {
  if (record === undefined || writtenMs >= endOf(record) + appLockRestMs) return undefined
  return parseRfc3339(record.since)
}

export function endOf({ until }: AppLockRecord): number {
  return parseRfc3339(until) ?? Number.NEGATIVE_INFINITY
}

export function buildAppLockRecord(
  budget: string,
  lock: { readonly text: string; readonly sinceMs: number; readonly writtenMs: number; readonly untilMs: number },
): AppLockRecord {
  return {
    budget,
    text: markOf(lock.text),
    since: rfc3339(lock.sinceMs),
    written: rfc3339(lock.writtenMs),
    until: wholeSecondsText(lock.untilMs),
  }
}

/** Rounded so that no hold is taken for shorter than it is. */
export function wholeSecondsText(ms: number): string {
  return rfc3339(Math.ceil(ms / 1000) * 1000)
}

/** What the annotation of an earlier version still says, as if the ledger said it. It can only shorten a lock. */
export function withStamp(
  record: AppLockRecord | undefined,
  {
    budget,
    stamp,
    nowMs,
    maxHoldMs,
  }: {
    readonly budget: string
    readonly stamp: string
    readonly nowMs: number
    readonly maxHoldMs: number
  },
): AppLockRecord | undefined {
  const stampMs = parseRfc3339(stamp)
  if (stampMs === undefined || stampMs > nowMs) return record
  const since = rfc3339(stampMs)
  if (record === undefined) {
    const until = wholeSecondsText(Math.min(nowMs, stampMs + maxHoldMs))
    return { budget, text: '', since, written: since, until }
  }
  return stampMs < (parseRfc3339(record.since) ?? Number.POSITIVE_INFINITY) ? { ...record, since } : record
}

/** What is to become of the record of one budget; undefined: there is none. */
export interface AppLockRecordChange {
  readonly budget: string
  readonly before: AppLockRecord | undefined
  readonly after: AppLockRecord | undefined
}

/**
 * Enters changes of records.
 *
 * Guarantees: only what still is as it was when the change was decided is changed, and never more is added than there is room for;
 * `overtaken` names the rest. The same ledger when nothing changes.
 */
export function changeAppLocks<L extends { readonly appLocks: readonly AppLockRecord[] }>(
  ledger: L,
  changes: readonly AppLockRecordChange[],
): { readonly ledger: L; readonly overtaken: readonly string[] } {
  let { appLocks } = ledger
  const overtaken: string[] = []
  for (const { budget, before, after } of changes) {
    const standing = appLocks.find((each) => each.budget === budget)
    if (isSameRecord(standing, after)) continue
    const hasRoom = after === undefined || standing !== undefined || appLocks.length < mostAppLockRecords
    if (!isSameRecord(standing, before) || !hasRoom) {
      overtaken.push(budget)
      continue
    }
    const others = appLocks.filter((each) => each.budget !== budget)
    appLocks = after === undefined ? others : [...others, after]
  }
  return { ledger: appLocks === ledger.appLocks ? ledger : { ...ledger, appLocks }, overtaken }
}

export function isSameRecord(a: AppLockRecord | undefined, b: AppLockRecord | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.text === b.text && a.since === b.since && a.written === b.written && a.until === b.until
}

/** Namespaces of the budgets whose records differ. */
export function namespacesOfChangedLocks(
  before: readonly AppLockRecord[],
  after: readonly AppLockRecord[],
): ReadonlySet<string> {
  if (before === after) return new Set()
  const byBudget = new Map(before.map((record) => [record.budget, record]))
  const changed = after.filter((record) => !isSameRecord(byBudget.get(record.budget), record))
  const kept = new Set(after.map(({ budget }) => budget))
  const gone = before.filter(({ budget }) => !kept.has(budget))
  return new Set([...changed, ...gone].map(({ budget }) => budget.slice(0, budget.indexOf('/'))))
}
