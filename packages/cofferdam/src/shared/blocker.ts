/** One thing that stands in the way: what it is, whose it is, since when, what ends it, and what can be done at once. */
export interface Blocker {
  /** `pdb/shop/orders`, `node/worker-a1`, `cephcluster/rook-ceph/rook-ceph`, `replica/vol-1-r-a` */
  readonly object: string
  /** A reason of docs/reference/reasons.md. */
  readonly reason: string
  readonly explanation: string
  readonly holder: string
  readonly since?: string
  /** What lies behind it: the pods that are not healthy, the evictions that are not over. */
  readonly causes: readonly Cause[]
  readonly unblocks: string
  /** When that is likely, and what it rests on; left out where nothing is on record that says so. */
  readonly estimate?: { readonly at: string; readonly restsOn: string }
  /** How to go ahead all the same, and what that costs. */
  readonly override: string
  /** Who waits: `pod/shop/orders-0`. */
  readonly waiting: readonly string[]
}

export interface Cause {
  readonly object: string
  readonly says: string
  readonly since?: string
}
