import type { StorageArbiter } from '../../../ledger/rules/storage-arbiter.ts'
import type { CephMap } from '../../../safety/ceph-map.ts'
import type { CephOwnership } from '../../../safety/ceph-ownership.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { BatchProposal } from './batch-proposal.ts'
import type { PaceHold } from './pace-label.ts'
import type { PaceState } from './pace-state.ts'
import type { RookOperator, RookPass } from './rook-pass.ts'
import type { UpdateSettings } from './update-settings.ts'

/** Everything that is seen before the next OSDs of one cluster are updated. */
export interface OsdUpdateSnapshot {
  readonly nowMs: number
  readonly cluster: UpdatedCluster
  /** In the order of their ids. */
  readonly osds: readonly UpdatableOsd[]
  /** Asked only while an OSD needs an update or is restarting: without that nobody asks Ceph anything. */
  readonly ceph: Observed<CephForUpdate> | undefined
  /** Who holds the storage. Absent where there is no ledger. */
  readonly arbiter?: Observed<StorageArbiter>
  /** Which batch Ceph itself names, after a decision asked for that. */
  readonly proposal?: Observed<BatchProposal>
  /** Cordoned nodes that carry OSDs of the cluster, and those that the record names. Absent: none. */
  readonly cordonedNodes?: readonly CordonedNode[]
  /** In mode `pace`: what is remembered, for what Rook makes OSDs of now. Undefined before the first time, and in other modes. */
  readonly pace?: PaceState
  /** In mode `pace`: OSDs are to be opened to Rook; restarts that were asked for wait until that is over. */
  readonly isWalking?: boolean
  /** In mode `pace`: what Rook does, after a decision asked for that. */
  readonly rook?: RookPass
  /** In mode `pace`. */
  readonly rookOperator?: RookOperator
  readonly record: UpdateRecord
  /** Why what was remembered cannot be read. Then nothing starts, and the record is left as it is. */
  readonly recordProblem?: string
  /** A later CephCluster is on record than the one that was seen: the API server has fallen behind. Nothing starts, and nothing is written. */
  readonly isOutdated?: true
}

export interface UpdatedCluster {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Another number whenever something else is wanted: after a change everything is judged anew. */
  readonly generation: number
  /** Of the CephCluster itself, which only grows. Absent: not known. */
  readonly objectGeneration?: number
  readonly isBeingDeleted: boolean
  /**
   * `own`: the OSD Deployments are ours to write. `plan`: Rook writes them; we plan, and restart pods where that is asked for.
   * `pace`: the same, and Rook writes only those that we let it. `off`: nothing is done. `contested`: the administrator says that no
   * Rook writes here, and one runs: whose the Deployments are has to be said first.
   */
  readonly mode: CephOwnership['updates']
  readonly settings: UpdateSettings
  /** Another image is wanted than some OSD runs: then the health of Ceph is checked first. */
  readonly isUpgrade: boolean
  /** In an upgrade: mons and mgrs that do not run the wanted image yet, each with why. */
  readonly daemonsBehind?: readonly string[]
}

export interface UpdatableOsd {
  readonly id: number
  readonly deployment: string
  /** Whether its Deployment differs from what it should be; beside Rook: whether its pod is older than the restart asked for. */
  readonly needsUpdate: boolean
  /** Why the OSD is left alone: `do-not-reconcile`, being replaced or migrated, its node is no longer in the storage spec. */
  readonly leftAlone?: string
  /** Its node takes no new pods: it comes back when somebody opens the node, and whoever drains the node must not wait for it. */
  readonly isNodeCordoned?: boolean
  /** Beside Rook: why its pod cannot be removed now. The others go on, and it is asked again by itself. */
  readonly held?: string
  /** Beside Rook: the budget of somebody else that its pod would go by, and how many may go by that now. */
  readonly takesFrom?: { readonly budget: string; readonly room: number }
  /** Its Deployment cannot be understood. The others go on. */
  readonly problem?: string
  /** When we last wrote its Deployment or asked for its restart, as it says itself. Marks from before `record.settledMs` are over. */
  readonly startedMs?: number
  /** It was started, and its pod of the newest template is older than that: the Deployment was put back before anything was restarted. */
  readonly isUnmoved?: true
  /** How Rook is kept from it; only where Deployments may carry a label of the pace. */
  readonly pace?: OsdPace
  /** It is open to Rook's next pass, which has not touched it yet: it may stop at any time. */
  readonly awaitsRook?: true
  /** When Rook was first seen to have changed it; its return is awaited from then on. */
  readonly touchedMs?: number
  /** Its pod is Ready and of the newest template. */
  readonly isPodReady: boolean
  /** The Deployment itself says that it makes no progress any more. */
  readonly hasStalled: boolean
}

export interface OsdPace {
  readonly hold: PaceHold
  /** It is about to be made anew, which Rook does on ways of its own: it is not held. */
  readonly isExempt: boolean
  /** It runs the image that the CephCluster wants. */
  readonly isImageWanted: boolean
  /** Of its Deployment. */
  readonly generation: number
}

export interface CordonedNode {
  readonly name: string
  /** A drain of it would have to stop OSDs of the cluster. */
  readonly runsOsds: boolean
}

export interface CephForUpdate {
  readonly map: CephMap
  /** HEALTH_OK or HEALTH_WARN. */
  readonly isHealthy: boolean
  /** By reports newer than the last change. */
  readonly isClean: Observed<boolean>
  /** What is not clean stays so until somebody repairs it, and nothing of it waits for an OSD. */
  readonly isAtRest?: boolean
  /** OSDs whose placement groups have all peered since they came back. */
  readonly peered: ReadonlySet<number>
}

/** What has to be remembered, in the cluster. */
export interface UpdateRecord {
  /** Generation of the CephCluster that it is about; another one begins anew. */
  readonly generation: number
  readonly startedMs: number | undefined
  /** OSDs that did not come back, or could not be written. They are not tried again under this generation. */
  readonly failed: readonly { readonly osd: number; readonly why: string; readonly atMs: number }[]
  /** The first that did not come back in time stops all others. */
  readonly frozen: { readonly osd: number; readonly why: string; readonly atMs: number } | undefined
  /** When the last round ended, for the soak. */
  readonly lastEndedMs: number | undefined
  /** Everything that was started before has come back, or was given up. */
  readonly settledMs?: number
  /** Restarting OSDs that were down before they were touched: their absence says nothing about the change. */
  readonly wereDown?: readonly number[]
  /** Cordoned nodes, and the turn that they get before the rest of the update. */
  readonly turns?: DrainTurns
  /** What was found after the update of what all OSDs run. */
  readonly release?: ReleaseCheck
  /** OSDs on which we set noout, until Ceph shows it gone: only those are ever unset by us. */
  readonly noout?: readonly number[]
  /** OSDs that were stopped although the checks refused, because a setting said so; whatever the generation. */
  readonly overrides?: UsedOverrides
  /** The pace beside Rook. Outlives the generation. */
  readonly pace?: PaceState
  /** How many were updated under this generation. */
  readonly done: number
  /** The latest CephCluster that this was written for. */
  readonly writtenFor?: { readonly uid: string; readonly generation: number }
}

export interface ReleaseCheck {
  readonly atMs: number
  /** How far `require_osd_release` lags behind the OSDs, and what to do; absent where it does not. */
  readonly lag?: string
}

export interface UsedOverrides {
  readonly count: number
  readonly last: { readonly osd: number; readonly why: string; readonly atMs: number }
}

export interface DrainTurns {
  /** Nodes whose turn is over, until they are open again. */
  readonly had: readonly string[]
  /** The turn at hand: nothing starts during it. */
  readonly open?: {
    readonly nodes: readonly string[]
    readonly askedMs: number
    /** Since when nobody has held the storage. */
    readonly freeSinceMs?: number
  }
}
