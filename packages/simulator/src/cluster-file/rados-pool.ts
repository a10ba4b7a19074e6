import type { FailureDomainType } from './ceph-schema.ts'

export interface RadosPool {
  readonly name: string
  readonly kind: 'replicated' | 'erasure'
  readonly size: number
  readonly minSize: number
  /** For an erasure-coded pool: of `size` chunks, how many are data. */
  readonly dataChunks?: number
  readonly failureDomain: FailureDomainType
  readonly pgs: number
  /** False: made with the `ceph` command, so that it has no CephBlockPool. */
  readonly hasResource: boolean
}

/** A pool, and the place in the file that it comes from. */
export interface PlacedPool {
  readonly path: string
  readonly pool: RadosPool
}
