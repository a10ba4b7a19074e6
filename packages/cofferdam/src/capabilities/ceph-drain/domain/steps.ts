import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import type { StorageClaim } from '../../../ledger/rules/storage-claim.ts'
import type { ProbeQuestion } from '../../../safety/probe-question.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import type { Step } from '../../../shared/steps.ts'
import type { CephDrainDecision } from './decision.ts'
import type { DrainRecord, RecordChange, RecordedOwnership } from './drain-record.ts'
import type { CephDrainSnapshot } from './snapshot.ts'
import type { RecordRelease } from './state-map.ts'
import type { StorageTurn } from './storage-turn.ts'

/** What a pass of ceph-drain does, in this order; which of them, `decidePass` says. */
export type CephDrainStep =
  | CloseBudgets
  | ReadCeph
  | HearCeph
  | HoldStorage
  | EnterTurn
  | ForgetTurn
  | WriteRecord
  | WriteBudgets
  | WriteFlags
  | ReleaseRecord
  | WriteNote
  | ClearNote
  | LeaveTurn
  | SettleStorage
  | NotifyDecided
  | ReportDecided
  | TryCeph

/** Whatever lets OSDs go is closed before Ceph is asked: nothing is released, so nothing has to be on record for it. */
export interface CloseBudgets extends Step {
  readonly do: 'write'
  readonly name: 'close-budgets'
  readonly writes: readonly BudgetWrite[]
}

/** Takes the snapshot again, with what Ceph says now. */
export interface ReadCeph extends Step {
  readonly do: 'ask'
  readonly name: 'read-ceph'
}

/** Ceph's ok-to-stop check of failure domains that are to be opened. */
export interface HearCeph extends Step {
  readonly do: 'ask'
  readonly name: 'hear-ceph'
  readonly domains: readonly AskedDomain[]
}

export interface AskedDomain {
  readonly domain: string
  /** OSDs that run and hold data: Ceph says nothing about others. */
  readonly osds: readonly number[]
  /** Ids of pools whose placement groups do not count in its answer. */
  readonly ignoredPools?: readonly number[]
}

/** The ok-to-stop probe: a question that Ceph must refuse. */
export interface TryCeph extends Step {
  readonly do: 'ask'
  readonly name: 'try-ceph'
  readonly question: ProbeQuestion
}

/** In the ledger, before what it allows. */
export interface HoldStorage extends Step {
  readonly do: 'hold'
  readonly name: 'hold-storage'
  readonly claim: Extract<StorageClaim, { wants: 'hold' }>
  /** How often it could not be had before in this pass. */
  readonly refusals: number
}

/** In the ledger, after everything was written. */
export interface SettleStorage extends Step {
  readonly do: 'hold'
  readonly name: 'settle-storage'
  readonly wants: 'keep' | 'release'
}

/** From here on nobody else works on the budgets of the cluster, and mons and mgrs may do what both turns allow. */
export interface EnterTurn extends Step {
  readonly do: 'hold'
  readonly name: 'enter-turn'
  readonly turn: StorageTurn
}

/** The budgets of OSDs stand: their turn counts, where there is one, and others may work on the budgets. */
export interface LeaveTurn extends Step {
  readonly do: 'hold'
  readonly name: 'leave-turn'
  readonly turn: StorageTurn | undefined
}

/** This controller no longer decides which mons and mgrs have to stay. */
export interface ForgetTurn extends Step {
  readonly do: 'hold'
  readonly name: 'forget-turn'
}

/** The state map: what is intended before it is done (`record`), and what came of the flags (`record-flags`). */
export interface WriteRecord extends Step {
  readonly do: 'write'
  readonly name: 'record' | 'record-flags'
  /** As it was read, or written, last. */
  readonly record: DrainRecord
  readonly change: RecordChange
}

/** What is ours leaves the state map, or the map goes. */
export interface ReleaseRecord extends Step {
  readonly do: 'write'
  readonly name: 'release-record'
  /** As it was read. */
  readonly record: DrainRecord
  readonly release: RecordRelease
}

export interface WriteBudgets extends Step {
  readonly do: 'write'
  readonly name: 'budgets'
  readonly writes: readonly BudgetWrite[]
}

/** noout on buckets of CRUSH. */
export interface WriteFlags extends Step {
  readonly do: 'write'
  readonly name: 'flags'
  readonly set: readonly string[]
  readonly unset: readonly string[]
}

/** What is decided, in a map of our own: the state map belongs to somebody else, or cannot be written. */
export interface WriteNote extends Step {
  readonly do: 'write'
  readonly name: 'note'
  readonly change: RecordChange
  /** What keeps it from being written ends the pass; else it is only reported. */
  readonly isNeeded: boolean
}

/** The map is no longer needed. */
export interface ClearNote extends Step {
  readonly do: 'write'
  readonly name: 'clear-note'
}

/** To others in this process, and to the next pass. */
export interface NotifyDecided extends Step {
  readonly do: 'report'
  readonly name: 'tell'
  readonly snapshot: CephDrainSnapshot
  readonly decision: CephDrainDecision
  readonly failures: readonly ObjectProblem[]
}

export interface ReportDecided extends Step {
  readonly do: 'report'
  readonly name: 'report'
  readonly decision: CephDrainDecision
  readonly silentMs: number
  /** How long the record has been refused. */
  readonly recordRefusedMs: number
  /** Whose the budgets and the updates of OSDs are. */
  readonly ownership: RecordedOwnership
  /** For want of a right. */
  readonly isRecordForbidden: boolean
  readonly isLogFollowed: boolean
  /** Whether this is about something that is not as it should be. */
  readonly isWarning: boolean
  /** The reason that was written down before, by this process or the one before it. */
  readonly recordedReason: string | undefined
}
