import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import type { CephMap } from '../../../safety/ceph-map.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { DrainRecord } from './drain-record.ts'
import type { CephDrainSnapshot } from './snapshot.ts'
import type { TurnInForce } from './storage-turn.ts'

/** Everything that one pass over a cluster is decided on: one snapshot, what earlier passes left, and what was heard since the snapshot. */
export interface PassSnapshot {
  /** Without the ledger: that is among what was heard. */
  readonly observed: Omit<CephDrainSnapshot, 'arbiter'>
  readonly record: DrainRecord
  /** The objects that `observed.budgets` were read from. */
  readonly budgets: readonly PodDisruptionBudget[]
  readonly map: CephMap | undefined
  /** OSDs have gone that ran until just now, and all of Ceph was not read since, until it is in this pass. */
  readonly hasNewLoss?: boolean
  /** A way to Ceph is known. */
  readonly isReachable: boolean
  /** Whether Ceph's cluster log is followed, in words; absent until that is known. */
  readonly cephLog?: string | undefined
  /** What the monitors were heard to say of their quorum last, for the record alone; absent until they were asked. */
  readonly quorum?: Observed<{ readonly mons: readonly string[]; readonly inQuorum: readonly string[] }> | undefined
  /** Since when Ceph has not answered. */
  readonly silentSince: number | undefined
  readonly problems: readonly ObjectProblem[]
  /** What mons and mgrs could do when the pass began; undefined where nobody decides about them. */
  readonly turnBefore: TurnInForce | undefined
  readonly memory: PassMemory
  readonly heard: Heard
}

/** What earlier passes left. */
export interface PassMemory {
  /** What could not be written last time; on record until it is, or until nobody wants it any more. */
  readonly failures: readonly ObjectProblem[]
  /** Nothing is left from a time when the answers stood elsewhere. */
  readonly isNoteCleared: boolean
  /** Under which epoch this process holds the storage in the ledger. */
  readonly heldEpoch: number | undefined
  /** Result of the ok-to-stop probe. */
  readonly probe: {
    /** No probe ran since daemons went. */
    readonly isDue: boolean
    readonly problem: string | undefined
  }
}

/** What was heard in this pass, and what came of its steps. */
export interface Heard {
  /** As it was seen last; undefined where there is none. */
  readonly ledger: Observed<Ledger> | undefined
  /** How often it did not give what was asked of it. */
  readonly ledgerRefusals: number
  /** By failure domain: whether Ceph would let it stop. */
  readonly cephSays: Readonly<Record<string, Observed<boolean>>>
  readonly record: HeardRecord | undefined
  readonly flags: FlagsOutcome | undefined
  /** What people read, and nothing depends on, could not be written. */
  readonly failures: readonly ObjectProblem[]
  /** What is held in the ledger could neither be released nor renewed. */
  readonly unsettled: readonly ObjectProblem[]
  /** The result of the ok-to-stop probe changed. */
  readonly isProbeChanged: boolean
  /** The names of the steps that were performed. */
  readonly performed: readonly string[]
}

export const heardNothing: Heard = {
  ledger: undefined,
  ledgerRefusals: 0,
  cephSays: {},
  record: undefined,
  flags: undefined,
  failures: [],
  unsettled: [],
  isProbeChanged: false,
  performed: [],
}

type HeardRecord = { readonly taken: DrainRecord } | { readonly refused: HeardRefusal }

/** The API server did not take the record. */
export interface HeardRefusal {
  readonly why: string
  /** The next attempt may well be taken: somebody wrote at the same time, or nobody answered. */
  readonly isPassing: boolean
  /** For want of a right. */
  readonly isForbidden: boolean
  /** How long it has been refused. */
  readonly forMs: number
}

/** What came of flags that were to be changed. */
export interface FlagsOutcome {
  readonly set: readonly string[]
  readonly unset: readonly string[]
  /** Buckets that CRUSH no longer has. */
  readonly gone: readonly string[]
  readonly failed: readonly { readonly bucket: string; readonly wanted: 'set' | 'unset'; readonly why: string }[]
}
