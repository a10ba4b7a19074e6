import type { StorageArbiter } from '../../../ledger/rules/storage-arbiter.ts'
import type { CephClusterView } from '../../../safety/ceph-cluster-view.ts'
import type { CephView } from '../../../safety/ceph-view.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { OsdView } from '../../../shared/parse-osd.ts'
import type { DrainState } from './state-map.ts'

/** Everything that is seen before the budgets of one Ceph cluster are decided. */
export interface CephDrainSnapshot {
  readonly nowMs: number
  readonly cluster: CephClusterView
  readonly osds: readonly OsdView[]
  readonly nodes: readonly NodeView[]
  readonly ceph: Observed<CephView>
  /** How long Ceph has not answered; 0 while it does. */
  readonly cephSilentMs: number
  /** What `rook-ceph-pdbstatemap` says. */
  readonly state: DrainState
  /** The OSD budgets that are there now, ours by owner or by name. */
  readonly budgets: readonly OsdBudget[]
  /** Mons and mgrs. Absent where no controller manages them. */
  readonly daemons?: readonly DaemonView[]
  /** Daemons of services, of which some cannot move. */
  readonly services?: readonly ServiceDaemonView[]
  /** Who holds which failure domain. Absent where there is no ledger: then no other holder counts. */
  readonly arbiter?: Observed<StorageArbiter>
}

/** One mon or mgr as Kubernetes has it. */
export interface DaemonView {
  readonly type: 'mon' | 'mgr'
  readonly id: string
  /** Where its pod is, else the node it is pinned to; undefined when it has neither. */
  readonly nodeName: string | undefined
  /** It can run on this one node only, as mons with their data on the host do. */
  readonly isPinned: boolean
  readonly isReady: boolean
}

/** One daemon of a service that is told from its like: an MDS, an NFS server, a gateway. */
export interface ServiceDaemonView extends Omit<DaemonView, 'type' | 'isPinned'> {
  /** `mds`, `nfs`, `nvmeof` */
  readonly type: string
  /** The name of the budget that covers it. */
  readonly budget: string
  /** Two nodes at most can run it, so two drains can leave it without any. */
  readonly isPinned: boolean
}

export interface NodeView {
  readonly name: string
  /** By a cordon, or by the taint of a tool that drains. */
  readonly isClosed: boolean
  /** Set while its pods may not run any more. */
  readonly lost?: LostNode
}

/** What Kubernetes says of a node whose pods may not run any more, whatever is written on them. */
export interface LostNode {
  /** `is NotReady`, as it stands after the name of the node. */
  readonly why: string
  /** Undefined where the API does not tell: then it lasts as long as the node is lost. */
  readonly sinceMs: number | undefined
}

/** An OSD budget, reduced to what we decide about. */
export interface OsdBudget {
  readonly name: string
  readonly maxUnavailable: number
  readonly selector: OsdSelector
  /** Whether its owner is this CephCluster: only then may it be changed or deleted. */
  readonly isOurs: boolean
}

export type OsdSelector =
  /** All OSDs but some: the default budget. */
  | { readonly covers: 'all'; readonly exceptOsds: readonly number[] }
  /** One failure domain: a blocking budget. */
  | { readonly covers: 'domain'; readonly type: string; readonly domain: string }
  /** Single OSDs that no label places where CRUSH has them. */
  | { readonly covers: 'osds'; readonly osds: readonly number[] }
  /** A selector that we do not write: the budget counts as no protection. */
  | { readonly covers: 'other' }
