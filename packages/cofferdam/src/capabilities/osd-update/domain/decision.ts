import type { StorageClaim } from '../../../ledger/rules/storage-claim.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { BatchQuestion } from './batch-proposal.ts'
import type { UpdateRecord } from './snapshot.ts'
import type { OverrideSetting, UpdateOverride } from './update-override.ts'

/** What may be updated next, and why not more. */
export interface OsdUpdateDecision {
  readonly reason: Reason
  readonly explanation: string
  /**
   * OSDs that may be updated now, together with all that are restarting. Ceph's own answer for exactly these and those that are
   * running comes on top: where it says no, none of them is touched.
   */
  readonly start: readonly number[]
  readonly progress: UpdateProgress
  /** Rounds of all that may go, where they were planned for this decision: ids ascending within a round. */
  readonly plan?: readonly (readonly number[])[]
  /** What Ceph is to be asked before anything can start: its answer belongs into the snapshot, and then all is decided again. */
  readonly ask?: BatchQuestion
  /** The OSD of `start` that a setting of the CephCluster lets stop although the checks refuse it. */
  readonly override?: UpdateOverride
  /** The setting of the CephCluster that overrides checks of this cluster's updates. */
  readonly checksOff?: OverrideSetting
  /** Flags of OSDs that are set before anything starts, and unset when it is back. */
  readonly noout?: UpdateNoout
  /** OSDs that cannot go now, and what blocks them. */
  readonly blocked: readonly { readonly osd: number; readonly why: string }[]
  /** What to hold in the ledger before anything is written, or to release after. Absent: nothing changes there. */
  readonly claim?: StorageClaim
  readonly record: UpdateRecord
  /** When to reconcile again although nothing changed; undefined: only on a change. */
  readonly recheckAfterSeconds: number | undefined
}

export interface UpdateProgress {
  readonly total: number
  readonly done: number
  readonly running: readonly number[]
  readonly waiting: number
  readonly blocked: number
  readonly failed: number
  /** Rounds that are left, and the fewest there can be: of the plan, or, while OSDs are restarting, with as many at a time as now. */
  readonly roundsLeft: number
  readonly lowerBound: number
  /** Seconds, from how long those took that came back; undefined when none has. */
  readonly secondsLeft: number | undefined
}

/** On which OSDs noout is set and unset now; ids ascending. */
export interface UpdateNoout {
  readonly set: readonly number[]
  readonly unset: readonly number[]
}
