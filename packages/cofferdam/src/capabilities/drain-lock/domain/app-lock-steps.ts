import type { Step } from '../../../shared/steps.ts'
import {
  type AppLockChange,
  type AppLockMemory,
  type AppLockSnapshot,
  type AppLockStep,
  decideAppLocks,
} from './decide-app-locks.ts'

/** What one pass over the owners' locks of a namespace does. */
export type AppLockPassStep = WriteLockedSince | ReportAppLock

export interface WriteLockedSince extends Step {
  readonly do: 'write'
  readonly uid: string
  /** What `cofferdam.io/locked-since` is to say; null takes it away. */
  readonly stamp: string | null
}

/** Record the events of one budget, and remember which were recorded. */
export interface ReportAppLock extends Step {
  readonly do: 'report'
  readonly uid: string
  readonly changes: readonly AppLockChange[]
  readonly memory: AppLockMemory | undefined
}

export interface AppLockPassSnapshot extends AppLockSnapshot {
  /** Budgets that this pass is done with, by uid. */
  readonly settled: ReadonlySet<string>
  /** Budgets that somebody else changed since they were seen, by uid. */
  readonly overtaken: ReadonlySet<string>
}

export interface AppLockPass {
  readonly steps: readonly AppLockPassStep[]
  /** Uids of all budgets that carry or carried an owner's lock. */
  readonly concerned: ReadonlySet<string>
  readonly recheckAfterMs: number | undefined
}

const overtakenRecheckMs = 1_000

/**
 * The steps of one pass, budget by budget.
 *
 * Guarantees: no event is recorded for a budget before its time is written on it; one that somebody else changes holds up no other.
 */
export function decideAppLockPass(snapshot: AppLockPassSnapshot): AppLockPass {
  const { steps, recheckAfterMs } = decideAppLocks(snapshot)
  const { settled, overtaken } = snapshot
  const open = steps.filter(({ uid }) => !settled.has(uid) && !overtaken.has(uid))
  return {
    steps: open.flatMap(stepsFor),
    concerned: new Set(steps.map(({ uid }) => uid)),
    recheckAfterMs: overtaken.size > 0 ? overtakenRecheckMs : recheckAfterMs,
  }
}

function stepsFor({ uid, stamp, changes, memory }: AppLockStep): AppLockPassStep[] {
  const report: ReportAppLock = { do: 'report', uid, changes, memory }
  return stamp === undefined ? [report] : [{ do: 'write', uid, stamp }, report]
}
