/** What Ceph said of itself when it was polled last, as the operator recorded it. */
export interface CephFacts {
  /** How many placement groups are in each state; a scrub is no state of its own. */
  readonly pgs: Readonly<Record<string, number>>
  /** Where noout is set, whoever set it. */
  readonly noout: {
    readonly isClusterWide: boolean
    /** CRUSH buckets. */
    readonly buckets: readonly string[]
    readonly osds: readonly number[]
  }
  /** Names of monitors. Left out while the operator has not heard of them. */
  readonly mons?: { readonly inQuorum: readonly string[]; readonly out: readonly string[] }
}
