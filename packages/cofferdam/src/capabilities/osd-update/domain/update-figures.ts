/** The update of one cluster's OSDs as the last decision left it. */
export interface OsdUpdateFigures {
  /** `namespace/name` of the CephCluster. */
  readonly cluster: string
  readonly done: number
  readonly running: number
  readonly waiting: number
  readonly blocked: number
  readonly failed: number
  readonly roundsLeft: number
  readonly lowerBound: number
  /** Undefined while nobody can say. */
  readonly secondsLeft: number | undefined
  readonly isFrozen: boolean
  /** A setting of the CephCluster overrides the checks. */
  readonly areChecksOff: boolean
}

export interface OsdGrowthFigures {
  readonly cluster: string
  /** Nodes and volume claims: whose disks are being inspected, where that failed, and where it cannot be done now. */
  readonly awaited: number
  readonly failed: number
  readonly unusable: number
}

/** Which checks disagree. */
export type DisagreeingSource = 'ceph' | 'second-check'
