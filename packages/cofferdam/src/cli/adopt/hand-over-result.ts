import type { HandOverCheck, HandOverDirection } from '../../shared/hand-over.ts'

export type HandOverOutcome = 'planned' | 'blocked' | 'done' | 'unprotected' | 'timed-out' | 'interrupted'

export interface HandOverResult {
  /** `cephcluster/rook-ceph/rook-ceph` */
  readonly object: string
  readonly direction: HandOverDirection
  /** Who decides after it. */
  readonly to: 'Cofferdam' | 'Rook' | 'Longhorn' | 'no operator'
  readonly outcome: HandOverOutcome
  /** What the outcome means. */
  readonly says: string
  readonly checks: readonly HandOverCheck[]
  readonly changes: readonly string[]
  /** What is missing until it is done. */
  readonly pending: readonly string[]
  /** What was seen of the budgets meanwhile; absent where nothing was changed. */
  readonly protection?: {
    readonly changesSeen: number
    readonly moments: readonly UnprotectedMoment[]
    readonly interruptions: number
  }
  /** How to go on with it; absent where nothing is left to do. */
  readonly next?: string
}

/** A moment in which something that had a budget had none: by the kind that is handed over. */
export interface UnprotectedMoment {
  readonly at: string
  readonly osds?: readonly string[]
  readonly instanceManagers?: readonly string[]
}
