import type { AppLockRecord, AppLockRecordChange } from '../../../ledger/rules/app-lock-record.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { Step } from '../../../shared/steps.ts'
import {
  type AppLockChange,
  type AppLockMemory,
  type AppLockSnapshot,
  type AppLockStep,
  decideAppLocks,
} from './decide-app-locks.ts'

/** What one pass over the owners' locks of a namespace does. */
export type AppLockPassStep = RecordAppLocks | RemoveStamp | ReportAppLock

/** Enter in the ledger since when budgets have been locked. */
export interface RecordAppLocks extends Step {
  readonly do: 'hold'
  readonly changes: readonly AppLockRecordChange[]
}

/** Take away what an earlier version wrote on the budget. */
export interface RemoveStamp extends Step {
  readonly do: 'write'
  readonly uid: string
}

/** Record the events of one budget, and remember which were recorded. */
export interface ReportAppLock extends Step {
  readonly do: 'report'
  readonly uid: string
  readonly changes: readonly AppLockChange[]
  readonly memory: AppLockMemory | undefined
}

export interface AppLockPassSnapshot extends Omit<AppLockSnapshot, 'records'> {
  readonly records: Observed<readonly AppLockRecord[]>
  /** When this process last entered something of the namespace in the ledger, in an earlier pass. */
  readonly recordedMs: number | undefined
  /** Budgets that this pass is done with, by name. */
  readonly settled: ReadonlySet<string>
  /** Budgets that somebody else changed since they were seen, by name. */
  readonly overtaken: ReadonlySet<string>
}

export interface AppLockPass {
  readonly steps: readonly AppLockPassStep[]
  /** Uids of all budgets that carry or carried an owner's lock. */
  readonly concerned: ReadonlySet<string>
  readonly recheckAfterMs: number | undefined
}

const overtakenRecheckMs = 1_000
const unknownRecheckMs = 10_000
/** However often an owner rewrites a lock, others get their turn at the ledger. */
const recordPauseMs = 2_000

/**
 * The steps of one pass: the ledger first, then budget by budget.
 *
 * Guarantees: no event is recorded for a budget before its times are in the ledger; one that somebody else changes holds up no other.
 * Fails closed: while the ledger cannot be read, nothing is done.
 */
export function decideAppLockPass(snapshot: AppLockPassSnapshot): AppLockPass {
  const { records, settled, overtaken, nowMs, recordedMs } = snapshot
  if (!records.known) {
    const concerned = new Set(snapshot.budgets.map(({ uid }) => uid))
    return { steps: [], concerned, recheckAfterMs: unknownRecheckMs }
  }
  const { steps, recheckAfterMs } = decideAppLocks({ ...snapshot, records: records.value })
  const pauseMs = recordedMs === undefined ? 0 : Math.max(0, recordedMs + recordPauseMs - nowMs)
  const open = steps.filter(({ name }) => !settled.has(name) && !overtaken.has(name))
  const ready = pauseMs === 0 ? open : open.filter(({ record }) => record === undefined)
  const waits = [
    recheckAfterMs,
    overtaken.size > 0 ? overtakenRecheckMs : undefined,
    ready.length < open.length ? pauseMs : undefined,
  ].filter((ms) => ms !== undefined)
  return {
    steps: [...recordSteps(ready), ...ready.flatMap(stepsFor)],
    concerned: new Set(steps.flatMap(({ uid }) => uid ?? [])),
    recheckAfterMs: waits.length === 0 ? undefined : Math.min(...waits),
  }
}

function recordSteps(steps: readonly AppLockStep[]): RecordAppLocks[] {
  const changes = steps.flatMap(({ record }) => record ?? [])
  return changes.length === 0 ? [] : [{ do: 'hold', changes }]
}

function stepsFor({ uid, hasStamp, changes, memory }: AppLockStep): AppLockPassStep[] {
  if (uid === undefined) return []
  const report: ReportAppLock = { do: 'report', uid, changes, memory }
  return hasStamp ? [{ do: 'write', uid }, report] : [report]
}
