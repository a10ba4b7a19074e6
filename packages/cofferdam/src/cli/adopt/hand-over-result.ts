import type { HandOverCheck, HandOverDirection } from '../../capabilities/ceph-drain/domain/hand-over.ts'
import type { UnprotectedMoment } from './watch-protection.ts'

export type HandOverOutcome = 'planned' | 'blocked' | 'done' | 'unprotected' | 'timed-out' | 'interrupted'

export interface HandOverResult {
  /** `cephcluster/rook-ceph/rook-ceph` */
  readonly object: string
  readonly direction: HandOverDirection
  /** Who has the budgets after it. */
  readonly to: 'Cofferdam' | 'Rook' | 'no operator'
  readonly outcome: HandOverOutcome
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
}
