/** What a Ceph cluster says about the node: its failure domain, and whether that may be away now. */
export interface StorageAnswer {
  /** `rook-ceph/rook-ceph` */
  readonly cluster: string
  /** The OSDs on the node. */
  readonly osds: readonly number[]
  readonly failureDomainType?: string
  readonly domain?: string
  readonly reason: string
  readonly explanation: string
  readonly since?: string
  /** Where the answer comes from: asked of Ceph just now, or what the operator wrote down last. */
  readonly source: 'ceph' | 'record' | 'none'
  /** Whether an operator keeps the record up to date; left out where it is not known. */
  readonly isAttended?: boolean
  readonly unattendedSince?: string
}
