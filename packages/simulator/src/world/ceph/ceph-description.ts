/** A bucket of the CRUSH tree; OSDs hang in it or in what is below it. */
export interface CrushDescription {
  /** `root`, `zone`, `rack`, `host` ... as Ceph's own CRUSH map names types. */
  readonly type: string
  readonly name: string
  readonly children?: readonly CrushDescription[]
  readonly osds?: readonly OsdDescription[]
}

export interface OsdDescription {
  readonly id: number
  /** In TiB. Default 1. */
  readonly weight?: number
  /** Default `ssd`. */
  readonly deviceClass?: string
}

export interface PoolDescription {
  readonly name: string
  readonly kind: 'replicated' | 'erasure'
  /** Copies, or data and coding chunks together. */
  readonly size: number
  readonly minSize: number
  /** The CRUSH type that no two shards share. */
  readonly failureDomain: string
  readonly pgCount: number
  /** Data and coding chunks of an erasure-coded pool. Default: one coding chunk. */
  readonly k?: number
  readonly m?: number
  /** Only OSDs of this class. Default: all. */
  readonly deviceClass?: string
}

export interface CephTimings {
  /** From the end of an OSD's process to the map that says so. */
  readonly downAfterMs: number
  /** The same where a machine falls silent and nobody refuses connections. */
  readonly heartbeatGraceMs: number
  /** `mgr_stats_period`: how often each OSD reports its placement groups to the mgr. */
  readonly statsPeriodMs: number
  /** `mgr_tick_period`: how often the mgr takes note of what was reported. */
  readonly mgrTickMs: number
  readonly peeringMs: number
  /** Whole placement groups copied per second, over all of the cluster. */
  readonly recoveryPgsPerSecond: number
  /** `mon_osd_down_out_interval`. */
  readonly downOutIntervalMs: number
  /** From a ready pod to the map that has its OSD up. */
  readonly startMs: number
  /** Objects that clients overwrite, per placement group. */
  readonly writesPerPgPerSecond: number
}

export interface CephDescription {
  readonly namespace: string
  readonly clusterName: string
  readonly fsid?: string
  readonly crush: CrushDescription
  readonly pools: readonly PoolDescription[]
  readonly timings?: Partial<CephTimings>
  /** `mon_osd_down_out_subtree_limit`: a bucket of this type or wider that is wholly down is never marked out. Default `rack`, as upstream. */
  readonly downOutSubtreeLimit?: string
  /** Names in the mon map. Default: every mon whose pod was ever seen. */
  readonly mons?: readonly string[]
}

/** Upstream's, but for recovery: a small cluster is clean again in less than a minute. */
export const defaultTimings: CephTimings = {
  downAfterMs: 1_000,
  heartbeatGraceMs: 20_000,
  statsPeriodMs: 5_000,
  mgrTickMs: 2_000,
  peeringMs: 1_000,
  recoveryPgsPerSecond: 2,
  downOutIntervalMs: 600_000,
  startMs: 2_000,
  writesPerPgPerSecond: 0.2,
}
