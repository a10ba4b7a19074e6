export interface PrepareJob {
  readonly name: string
  readonly place: string
  /** What was asked of the place when it was made; undefined where it does not say. */
  readonly asked: string | undefined
  readonly state: 'active' | 'succeeded' | 'failed'
  /** The CephCluster itself is its owner. */
  readonly isOurs: boolean
  /** What distinguishes this Job from every other of its name. */
  readonly nonce: string | undefined
}
