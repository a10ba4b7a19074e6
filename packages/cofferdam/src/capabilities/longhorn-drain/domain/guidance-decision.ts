import type { Reason } from '../../../shared/reasons.ts'
import type { LonghornDecision } from './decision.ts'

/** One change of one object, whole: a guide that dies before or after it leaves nothing half done. */
export interface GuidanceStep {
  readonly kind: 'setting' | 'node'
  readonly name: string
  /** null takes one away. */
  readonly annotations: Readonly<Record<string, string | null>>
  /** Only for a setting. */
  readonly value?: string
  /** Only for a node. */
  readonly spec?: { readonly evictionRequested?: boolean; readonly allowScheduling?: boolean }
  /** Undefined: only our own mark changes, which is not reported. */
  readonly reason?: Reason
  readonly explanation: string
}

export interface GuidanceDecision {
  /** Empty: everything is as it should be. */
  readonly steps: readonly GuidanceStep[]
  readonly problems: LonghornDecision['problems']
}
