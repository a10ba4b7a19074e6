/** What Ceph has to be asked before a batch that it chooses itself can start. */
export interface BatchQuestion {
  readonly by: 'ok-to-stop' | 'ok-to-upgrade'
  /** Which may stop alone by our own reckoning: only these are worth a question. Ascending. */
  readonly osds: readonly number[]
  readonly max: number
  /** What updated OSDs run, if that is known. */
  readonly version?: string
  /** Which are updated already, and can report the version. */
  readonly updated: readonly number[]
}

/** What Ceph answered. */
export interface BatchProposal {
  readonly by: BatchQuestion['by']
  /** Which Ceph would let stop together; none when it refused all that it was asked about. Others than asked for may be among them. */
  readonly osds: readonly number[]
  /** Which it was asked about before it said yes. */
  readonly asked: readonly number[]
}
