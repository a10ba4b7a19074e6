/** One OSD as the OSD map has it. */
export interface CephOsd {
  readonly id: number
  readonly isUp: boolean
  readonly isIn: boolean
  /** The epoch since which it is up, 0 when it never was. */
  readonly upFrom: number
  /** The epoch in which it last went down, 0 when it never did. */
  readonly downAt: number
  /** It carries noout itself; flags of CRUSH buckets above it do not count here. Left out where it does not. */
  readonly hasNoout?: true
}

export interface CrushBucket {
  /** Negative, as CRUSH numbers buckets. */
  readonly id: number
  readonly name: string
  /** `host`, `rack`, `zone`, `root` ... */
  readonly type: string
  /** Ids of buckets (negative) and OSDs (0 and up). */
  readonly children: readonly number[]
}

export interface CrushRule {
  readonly id: number
  readonly name: string
  /** The type whose loss the rule spreads against: what `choose` and `chooseleaf` steps name lowest. `osd` when it spreads over OSDs only. */
  readonly failureDomain: string
  /** The bucket that its `take` step names, without the device class. */
  readonly root: string
  readonly deviceClass?: string
}

export interface CrushMap {
  readonly buckets: readonly CrushBucket[]
  readonly rules: readonly CrushRule[]
  /** From the narrowest to the widest: `osd`, `host`, `chassis`, `rack` ... `root`. */
  readonly typeOrder: readonly string[]
}

export interface CephPool {
  readonly id: number
  readonly name: string
  readonly kind: 'replicated' | 'erasure'
  readonly size: number
  readonly minSize: number
  readonly crushRuleId: number
}

/** In place of an OSD where an erasure-coded PG misses a shard. */
export const noOsd = 0x7fffffff

/**
 * All placement groups, column by column: hundreds of thousands of small objects would cost more to keep than to judge.
 * The members of PG number i are `acting[offsets[i] .. offsets[i + 1])`, likewise for `up` with `upOffsets`.
 */
export interface PgTable {
  readonly count: number
  readonly poolIds: Int32Array
  /** The number after the dot in `1.1b`. */
  readonly pgNumbers: Int32Array
  /** Into `stateNames`. */
  readonly states: Uint16Array
  /** As Ceph words them: `active+undersized+degraded`. */
  readonly stateNames: readonly string[]
  readonly offsets: Int32Array
  readonly acting: Int32Array
  readonly upOffsets: Int32Array
  readonly up: Int32Array
  /** The epoch of the map that the PG's own report was made with. */
  readonly reportedEpochs: Int32Array
}

/** Stretch mode: placement groups of these pools must keep one copy in each bucket of the type that they have copies in, or they do not peer. */
export interface SiteRule {
  readonly poolIds: readonly number[]
  /** The type of the sites: `datacenter`, `zone` ... */
  readonly type: string
}

/** Ceph at one epoch of its OSD map. */
export interface CephMap {
  readonly fsid: string
  readonly epoch: number
  readonly osds: readonly CephOsd[]
  /** Ids that `osd dump` listed several times: each is in `osds` once. Absent where there is none. */
  readonly repeatedOsds?: readonly number[]
  readonly pools: readonly CephPool[]
  /** Pools that are left out of `pools` and `pgs` because the administrator said so. Absent where there is none. */
  readonly ignoredPools?: readonly { readonly id: number; readonly name: string; readonly pgs: number }[]
  readonly crush: CrushMap
  readonly pgs: PgTable
  /** Absent where no pool is stretched over sites. */
  readonly sites?: readonly SiteRule[]
  /** Cluster-wide flags: `noout`, `sortbitwise` ... */
  readonly flags: readonly string[]
  /** The oldest release that OSDs may run: `squid`. Left out where Ceph does not say. */
  readonly requiredRelease?: string
  /** Flags on CRUSH buckets: `{ "zone-a": ["noout"] }`. */
  readonly bucketFlags: Readonly<Record<string, readonly string[]>>
}
