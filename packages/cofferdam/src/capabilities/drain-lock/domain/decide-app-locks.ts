import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import {
  type AppLock,
  type AppLockFault,
  type AppLockPolicy,
  judgeAppLocks,
  type ParsedAppLock,
  recordOfBudget,
} from '../../../ledger/rules/app-lock.ts'
import {
  type AppLockRecord,
  type AppLockRecordChange,
  appLockRestMs,
  budgetOfLock,
  buildAppLockRecord,
  endOf,
  isSameRecord,
  markOf,
  recordsOf,
  wholeSecondsText,
} from '../../../ledger/rules/app-lock-record.ts'
import { type AnnotatedBudget, appLockAnnotation, lockedSinceAnnotation } from '../../../shared/app-lock-annotation.ts'
import type { Reason } from '../../../shared/reasons.ts'

/** What is remembered of a budget from the last pass, so that everything is reported once. */
export interface AppLockMemory {
  /** The lock that was in force. */
  readonly lock: AppLock | undefined
  /** The fault that was reported last, with the text it was found in. */
  readonly reported: string
}

export interface AppLockSnapshot {
  readonly nowMs: number
  readonly policy: AppLockPolicy
  readonly namespace: string
  /** All budgets of the namespace. */
  readonly budgets: readonly (AnnotatedBudget & { readonly uid: string })[]
  /** All that the ledger has, of every namespace. */
  readonly records: readonly AppLockRecord[]
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
  /** Undefined: the budget is gone, and only its record is left. */
  readonly uid: string | undefined
  /** What the ledger is to say of it; undefined leaves that as it is. */
  readonly record: AppLockRecordChange | undefined
  /** Whether what an earlier version wrote on it is taken away. */
  readonly hasStamp: boolean
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

interface SeenBudget {
  readonly name: string
  readonly uid: string | undefined
  readonly text: string | undefined
  readonly hasStamp: boolean
  /** As the ledger has it. */
  readonly before: AppLockRecord | undefined
  /** The same, with what an earlier version wrote on the budget. */
  readonly record: AppLockRecord | undefined
  readonly memory: AppLockMemory | undefined
}

/**
 * Keeps the owners' locks of one namespace honest: since when each budget has been locked is recorded in the ledger, and what
 * begins, ends or does not count is reported once.
 *
 * Guarantees: never throws. The beginning of a hold never moves forward while the hold lasts, whatever is done to the
 * budget; a lock that policy has ended does not begin anew while its text stands there.
 */
export function decideAppLocks(snapshot: AppLockSnapshot): AppLockDecision {
  const seen = seenBudgets(snapshot)
  const first = judgeAppLocks(snapshot)
  const over = new Set(
    seen.filter((budget) => isOver(snapshot, budget, first.get(budget.name))).map(({ name }) => name),
  )
  const judged = over.size === 0 ? first : judgeAppLocks(withoutHolds(snapshot, over))
  const outcomes = seen.map((budget) =>
    judgeOne(snapshot, budget, { judged: judged.get(budget.name) ?? {}, isOver: over.has(budget.name) }),
  )
  const waits = outcomes.flatMap(({ recheckMs }) => recheckMs).filter((ms) => ms > 0)
  return {
    steps: outcomes.map(({ step }) => step),
    recheckAfterMs: waits.length === 0 ? undefined : Math.min(...waits),
  }
}

function seenBudgets({ budgets, memory, ...question }: AppLockSnapshot): SeenBudget[] {
  const present = budgets.map(({ name, uid, annotations }): SeenBudget => {
    const before = recordOfBudget(question, { name, annotations: {} })
    return {
      name,
      uid,
      text: annotations[appLockAnnotation],
      hasStamp: annotations[lockedSinceAnnotation] !== undefined,
      before,
      record: recordOfBudget(question, { name, annotations }),
      memory: memory?.get(uid),
    }
  })
  const names = new Set(budgets.map(({ name }) => name))
  const gone = recordsOf(question.records, question.namespace)
    .map((record) => ({ name: record.budget.slice(question.namespace.length + 1), record }))
    .filter(({ name }) => !names.has(name))
    .map(({ name, record }): SeenBudget => {
      return { name, uid: undefined, text: undefined, hasStamp: false, before: record, record, memory: undefined }
    })
  const concerned = present.filter(
    ({ text, hasStamp, record, memory: remembered }) =>
      text !== undefined || hasStamp || record !== undefined || remembered !== undefined,
  )
  return [...concerned, ...gone]
}

/** Whether the budget has had its rest, and nothing of the hold stands there any more. */
function isOver({ nowMs }: AppLockSnapshot, { text, record }: SeenBudget, judged: ParsedAppLock | undefined): boolean {
  if (record === undefined || judged?.lock !== undefined || nowMs < endOf(record) + appLockRestMs) return false
  return text === undefined || markOf(text) !== record.text || judged?.fault === 'expired'
}

/** What comes after a rest is judged as if nothing had been before. */
function withoutHolds(snapshot: AppLockSnapshot, over: ReadonlySet<string>): AppLockSnapshot {
  const { namespace, budgets, records } = snapshot
  const keys = new Set([...over].map((name) => budgetOfLock({ namespace, name })))
  return {
    ...snapshot,
    records: records.filter(({ budget }) => !keys.has(budget)),
    budgets: budgets.map((budget) => (over.has(budget.name) ? withoutStamp(budget) : budget)),
  }
}

function withoutStamp<B extends AnnotatedBudget>(budget: B): B {
  const { [lockedSinceAnnotation]: _, ...annotations } = budget.annotations
  return { ...budget, annotations }
}

interface BudgetOutcome {
  readonly step: AppLockStep
  readonly recheckMs: readonly number[]
}

function judgeOne(
  snapshot: AppLockSnapshot,
  budget: SeenBudget,
  about: { readonly judged: ParsedAppLock; readonly isOver: boolean },
): BudgetOutcome {
  const { nowMs, namespace } = snapshot
  const { name, uid, text, before, hasStamp } = budget
  const { lock, fault } = about.judged
  const key = budgetOfLock({ namespace, name })
  const left = about.isOver ? undefined : endedRecord(budget, nowMs)
  const after = lock === undefined || text === undefined ? left : buildAppLockRecord(key, { text, ...lock })
  const reported = fault === undefined ? '' : `${fault} ${text}`
  const step: AppLockStep = {
    name,
    uid,
    record: isSameRecord(before, after) ? undefined : { budget: key, before, after },
    hasStamp,
    changes: uid === undefined ? [] : changesOf(snapshot, budget, about.judged, reported),
    memory: lock === undefined && reported === '' ? undefined : { lock, reported },
  }
  if (lock !== undefined) return { step, recheckMs: [lock.untilMs - nowMs] }
  return { step, recheckMs: after === undefined ? [] : [restLeftMs(after, nowMs)] }
}

/** What is left of a hold when nothing locks the budget. */
function endedRecord({ record }: SeenBudget, nowMs: number): AppLockRecord | undefined {
  if (record === undefined || endOf(record) <= nowMs) return record
  return { ...record, until: wholeSecondsText(nowMs) }
}

function restLeftMs(record: AppLockRecord, nowMs: number): number {
  return endOf(record) + appLockRestMs - nowMs
}

const reasonOf: Readonly<Partial<Record<AppLockFault, Reason>>> = {
  unreadable: 'AppLockUnreadable',
  expired: 'AppLockExpired',
  capped: 'AppLockCapped',
  'over-quota': 'AppLockOverQuota',
}

function changesOf(
  { memory: remembered }: AppLockSnapshot,
  { memory, text, record }: SeenBudget,
  { lock, fault, problem }: ParsedAppLock,
  reported: string,
): AppLockChange[] {
  const former = memory?.lock
  const changes: AppLockChange[] = []
  // The leader before this one has recorded it, and reported it then.
  const isKnownAlready = remembered === undefined && text !== undefined && record?.text === markOf(text)
  if (lock !== undefined && former?.holder !== lock.holder && !isKnownAlready) {
    const note = `${lock.holder} has locked it until ${rfc3339(lock.untilMs)}: ${lock.reason}`
    changes.push({ type: 'Normal', reason: 'AppLocked', note })
  }
  if (lock === undefined && former !== undefined) {
    const why = text === undefined ? 'it was removed' : (problem as string)
    const note = `The lock of ${former.holder} (${former.reason}) has ended: ${why}`
    changes.push({ type: 'Normal', reason: 'AppLockEnded', note })
  }
  const reason = fault === undefined ? undefined : reasonOf[fault]
  const isReportedAsEnd = fault === 'expired' && former !== undefined
  const isReported = reported === memory?.reported || (isKnownAlready && lock !== undefined)
  if (reason !== undefined && !isReported && !isReportedAsEnd) {
    changes.push({ type: 'Warning', reason, note: `${problem?.slice(0, 1).toUpperCase()}${problem?.slice(1)}` })
  }
  return changes
}
