import type { Reason } from '../../../shared/reasons.ts'
import type { LonghornDecision } from './decision.ts'
import type { RevertedWrite } from './reverted-writes.ts'

/** What is asked of a disk, or of a whole node. */
export interface EvictionFields {
  readonly evictionRequested?: boolean
  readonly allowScheduling?: boolean
}

/** One change of one object, whole: an operator that dies before or after it leaves nothing half done. */
export interface GuidanceStep {
  readonly kind: 'setting' | 'node'
  readonly name: string
  /** null takes one away. */
  readonly annotations: Readonly<Record<string, string | null>>
  /** Only for a setting. */
  readonly value?: string
  /** Only for a node. */
  readonly spec?: EvictionFields & { readonly disks?: Readonly<Record<string, EvictionFields>> }
  /** Undefined: only our own mark changes, which is not reported. */
  readonly reason?: Reason
  readonly explanation: string
}

export interface GuidanceDecision {
  /** Empty: everything is as it should be. */
  readonly steps: readonly GuidanceStep[]
  readonly problems: LonghornDecision['problems']
  /** Requests of ours that another client withdrew since. */
  readonly reverted: readonly RevertedWrite[]
}
