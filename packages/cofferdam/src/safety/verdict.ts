/** A placement group that stands in the way, or that has not reported yet. */
export interface PgTrouble {
  /** `1.1b` */
  readonly pg: string
  readonly pool: string
  /** Shards that would be left, with nothing missing. */
  readonly left: number
  /** What the pool needs: min_size plus the reserve that policy asks for. */
  readonly floor: number
  /** `datacenter north`: enough would be left, but none there, where the pool must keep one. */
  readonly lostSite?: string
}

/** A placement group of which nobody knows whether every copy is good, and that stays so until somebody does something. */
export interface PgDoubt {
  readonly pg: string
  readonly pool: string
  /** As Ceph reports it: `active+clean+inconsistent`. */
  readonly state: string
}

/**
 * May these OSDs stop now, with all that is down already?
 *
 * `unknown` is not `no`: it means that what Ceph says is older than the last change, and will be known soon.
 */
export type StopVerdict =
  | { readonly may: 'yes' }
  /** The first few of the PGs that would fall below their floor or lose a site, worst first, and how many there are. */
  | {
      readonly may: 'no'
      readonly troubles: readonly PgTrouble[]
      readonly troubleCount: number
      /** The first few of the placement groups in lasting doubt. Only reported where there is no other problem. */
      readonly doubts?: readonly PgDoubt[]
      readonly doubtCount?: number
    }
  | { readonly may: 'unknown'; readonly why: string }

export interface DomainVerdict {
  /** The CRUSH bucket's name. */
  readonly domain: string
  readonly osds: readonly number[]
  /** May all of its OSDs be down together, with all that is down already? */
  readonly verdict: StopVerdict
}
