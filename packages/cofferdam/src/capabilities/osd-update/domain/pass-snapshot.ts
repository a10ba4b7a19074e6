import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { LostDeployment, LostOsds, RemovableOsd } from './decide-removal.ts'
import type { OsdUpdateDecision } from './decision.ts'
import type { RestartWay } from './restart-way.ts'
import type { OsdUpdateSnapshot, UsedOverrides } from './snapshot.ts'
import type { StartOutcome } from './start-outcome.ts'
import type { StartNotes, StoredUpdate } from './stored-update.ts'

/** Everything that one pass over a cluster is decided on. */
export interface UpdatePassSnapshot {
  /** With what Ceph and the ledger said in this pass. */
  readonly seen: OsdUpdateSnapshot
  readonly cluster: CephCluster
  /** By OSD. */
  readonly deployments: ReadonlyMap<number, Deployment>
  /** Beside Rook: the pods that are to be restarted. */
  readonly oldPods: ReadonlyMap<number, readonly Pod[]>
  readonly removable: readonly RemovableOsd[]
  readonly problems: readonly string[]
  /** When to reconcile again at the latest although nothing changes: a restart is asked for a time that lies ahead. */
  readonly wakeAfterSeconds?: number
  readonly stored: StoredUpdate
  /** What is wanted of the ledger is held under the epoch of this process. */
  readonly isClaimHeld: boolean
  /** This process holds the storage, as far as it knows. */
  readonly isStorageHeld: boolean
  /** Since when Ceph has not called it safe to stop what was to be stopped. */
  readonly refusedSinceMs?: number
  readonly heard: HeardInPass
}

/** What was learned in this pass. */
export interface HeardInPass {
  /** Ceph was asked for its map; `seen` has the answer. */
  readonly hasMap?: true
  /** Rook was asked what it does; `seen` has the answer. */
  readonly hasRook?: boolean
  /** How often labels were written in this pass. */
  readonly labelled?: number
  readonly hold?: {
    /** The storage hold was acquired in this pass, or there is no ledger. */
    readonly isAcquired: boolean
    readonly refusals: number
  }
  /** What could not be done with the ledger at the end. */
  readonly unsettled?: string
  readonly okToStop?: {
    readonly osds: readonly number[]
    readonly isSecured: boolean
    readonly answer: Observed<boolean>
  }
  readonly ways?: SeenWays
  /** For those that were refused. */
  readonly waysAgain?: SeenWays
  /** What came of the starts: the rest of the pass is about them. */
  readonly begun?: {
    readonly intent: StartIntent
    readonly outcomes: readonly StartOutcome[]
    readonly isTriedAgain: boolean
  }
  /** By OSD. */
  readonly versions?: Observed<ReadonlyMap<number, string>>
  /** What could not be done with flags of OSDs. */
  readonly flagFailures?: readonly string[]
  readonly lost?: Observed<LostOsds>
  /** Deployments that were to be removed. */
  readonly removed?: readonly LostDeployment[]
}

export type SeenWays = { readonly ways: ReadonlyMap<number, RestartWay> } | { readonly error: unknown }

/** What was decided before OSDs were touched. */
export interface StartIntent {
  readonly nowMs: number
  readonly decision: OsdUpdateDecision
  /** Which were restarting before. */
  readonly running: readonly number[]
  readonly notes: StartNotes
  /** What was on record before: an override that does not come to pass was none. */
  readonly overridesBefore?: UsedOverrides
  /** Outcomes of the OSDs that are not touched. */
  readonly untouched: readonly StartOutcome[]
}
