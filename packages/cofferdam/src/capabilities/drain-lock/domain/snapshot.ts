import type { AppLock } from '../../../ledger/rules/app-lock.ts'
import type { BreakGlass } from '../../../ledger/rules/break-glass.ts'
import type { DrainLockSettings } from '../../../ledger/rules/drain-lock-settings.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import type { OsdFollowers } from '../../../shared/follows-osds.ts'
import type { BudgetReference, PodReference } from '../../../shared/object-references.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { StorageFacts } from '../../../shared/storage-facts.ts'
import type { LimitFacts } from './maintenance-limits.ts'
import type { ResponderFacts } from './responder-facts.ts'

/** Everything that is seen before the next steps of one disruption are decided. */
export interface DisruptionSnapshot {
  readonly nowMs: number
  /** Who asks: this process, as the ledger names it. */
  readonly holder: string
  readonly request: RequestView
  /** Undefined: there is no such node. */
  readonly node: NodeFacts | undefined
  /** All pods bound to the node. */
  readonly pods: readonly PodFacts[]
  /** The budgets that cover them, and those that the record says are locked. */
  readonly budgets: readonly BudgetFacts[]
  /** Read fresh, not from a cache. */
  readonly ledger: Observed<Ledger>
  /** For every storage cluster with daemons on the node. */
  readonly storage: readonly StorageFacts[]
  /** Limits on nodes in maintenance that count the node. */
  readonly limits: Observed<readonly LimitFacts[]>
  readonly settings: DrainLockSettings
  /** Undefined: the API server has no EvictionRequests, or no pod on the node names a responder. */
  readonly responders?: ResponderFacts
}

/** The NodeDisruption: what is wanted, and what its record says of how far it has come. */
export interface RequestView {
  /** The uid of the object. */
  readonly id: string
  readonly name: string
  readonly nodeName: string
  readonly intent: 'Reboot' | 'Remove' | 'Replace'
  readonly requester: string
  readonly reason: string
  readonly honourSkipDrain: boolean
  /** What the eviction of a pod may destroy; everything else keeps the request waiting. */
  readonly accepts: readonly PodLoss[]
  /** How long evicted pods have to end; undefined: their own grace period. */
  readonly gracePeriodSeconds?: number | undefined
  readonly createdMs: number
  readonly fallbackAfterMs: number | undefined
  readonly deadlineMs: number | undefined
  /** Somebody deleted the request; our finalizer holds it until what it did has been undone. */
  readonly isCancelled: boolean
  readonly breakGlass: BreakGlass | undefined
  readonly record: DisruptionRecord
}

export type DisruptionPhase =
  /** Not read yet. */
  | 'Pending'
  /** Something stands in the way; nothing is held. */
  | 'Waiting'
  /** Keys are held, budgets are being locked; nothing has been touched. */
  | 'Locking'
  /** The intent is written down; pods are being evicted. */
  | 'Draining'
  /** Nothing is left but what stays: the node may be rebooted or removed. */
  | 'Drained'
  /** The node is back; pods and storage are not yet as before. */
  | 'Recovering'
  | 'Completed'
  | 'Rejected'

export interface DisruptionRecord {
  readonly phase: DisruptionPhase
  readonly epoch: number | undefined
  /** Append-only. */
  readonly lockedBudgets: readonly BudgetReference[]
  /** Of these, those that are not held any more while the rest recovers. */
  readonly releasedBudgets: readonly BudgetReference[]
  readonly skippedPods: readonly PodReference[]
  /** They leave or have left. */
  readonly evictedPods: readonly PodReference[]
  /** Whether the cordon is ours to undo. `undefined`: not read yet. */
  readonly cordonedBy: string | undefined
  readonly nodeUid: string | undefined
  readonly bootIDBefore: string | undefined
  readonly bootIDAfter: string | undefined
  /** What `NodeFacts.heard` was when it was no longer said that the node may go. */
  readonly heardBefore: string | undefined
  /** Locks were given up, every pod is evicted in the ordinary way. */
  readonly hasFallenBack: boolean
  /** When a lock by annotation was taken, for `settle`. */
  readonly lockedAtMs: number | undefined
  /** Since when nothing in the ledger stands in its way; undefined while something does. */
  readonly firstInQueueSinceMs: number | undefined
  /** For how long that was so before. */
  readonly firstInQueueMs: number
}

export interface NodeFacts {
  readonly name: string
  readonly uid: string
  readonly bootID: string
  readonly isReady: boolean
  readonly isCordoned: boolean
  /** When its kubelet was last heard of, by the clock of that machine; undefined where that was not read, or nobody keeps it. */
  readonly heard?: string
  /** The uid of the request that cordoned it, as the node itself says. */
  readonly cordonedBy?: string
  /** Of the very object that was read; undefined where it comes from a copy. */
  readonly resourceVersion?: string
  /** Whether autoscalers leave the node alone; undefined: nobody here keeps them from nodes. */
  readonly isKeptFromScaleDown?: boolean
  /** From the node's configuration where it is visible: how long the kubelet lets pods end when the machine shuts down. */
  readonly shutdownGraceSeconds: number | undefined
}

/** What an eviction destroys, by the field of a request that agrees to it: a pod that nobody creates again, its emptyDir data. */
export type PodLoss = 'force' | 'deleteEmptyDirData'

export interface PodLeaving {
  readonly sinceMs: number | undefined
  /** When its grace period ends. */
  readonly endsMs: number | undefined
  /** Its object stays until their owners remove them. */
  readonly finalizers: readonly string[]
}

export interface PodFacts extends PodReference {
  /** `stays-anyway`: of a DaemonSet, or mirrored from the node. `finished`: its end costs nobody anything. */
  readonly kind: 'ordinary' | 'stays-anyway' | 'finished'
  readonly isReady: boolean
  readonly isLeaving: boolean
  /** Of one that is leaving, where its object says so. */
  readonly leaving?: PodLeaving
  /** Annotation `cofferdam.io/skip-drain: "true"`. */
  readonly wantsToStay: boolean
  /** How long it outlives its node being not ready or unreachable; Infinity when it tolerates that for ever. */
  readonly toleratesMs: number
  readonly losses: readonly PodLoss[]
  /** Who is to be asked before it is evicted, in this order, beside what Kubernetes does itself. */
  readonly responders?: readonly string[]
  /**
   * By its labels, which anybody may set: an OSD is believed only in the namespace of storage with daemons on the node. A mon or mgr is
   * believed wherever it is: it leaves later for it, and keeps others as any pod does.
   */
  readonly cephDaemon?: 'osd' | 'mon' | 'mgr'
  /** The budgets that cover it, by uid. More than one: the eviction API refuses the pod. */
  readonly budgetUids: readonly string[]
}

export interface BudgetFacts extends BudgetReference {
  readonly resourceVersion: string
  /** Whether its status answers for its present spec. */
  readonly isCounted: boolean
  readonly disruptionsAllowed: number
  readonly currentHealthy: number
  readonly desiredHealthy: number
  readonly expectedPods: number
  /** Pods whose disruption was taken, by name, with the time until which it holds. */
  readonly disruptedUntilMs: Readonly<Record<string, number>>
  /** Our mark on the budget, whoever of us set it. */
  readonly hold: BudgetHold | undefined
  readonly appLock: AppLock | undefined
  /** Of Ceph: it keeps these daemons until the OSDs of their node have gone. */
  readonly followers?: OsdFollowers
  /** Of Ceph: it says whether its monitors could lose one more. */
  readonly isQuorum?: boolean
}

/** Annotation `cofferdam.io/held-by` on a budget: whoever sees the budget sees who holds it, and why. */
export interface BudgetHold {
  readonly requestId: string
  readonly request: string
  readonly epoch: number
  readonly untilMs: number
  readonly reason: string
  /** What the spec allowed before, in `spec` mode; written back at the end. */
  readonly formerLimit?: { readonly minAvailable?: number | string; readonly maxUnavailable?: number | string }
}
