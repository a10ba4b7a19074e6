import type { Reason } from '../../../shared/reasons.ts'

/** What Longhorn's nodes may do next, and why. */
export interface LonghornDecision {
  /** For every instance manager: whether a budget should hold it. */
  readonly budgets: readonly BudgetAnswer[]
  /** For every replica whose flag should change or stay up. Longhorn writes them. */
  readonly evictions: readonly EvictionAnswer[]
  /** Replicas that a cancelled eviction left over, where the settings ask for their removal. */
  readonly surplusReplicas: readonly string[]
  /** Volumes with copies that are to be removed and stay for now, and why. */
  readonly surplusKept: readonly { readonly volume: string; readonly explanation: string }[]
  /** Per node that is cordoned or drained: may it go, and if not, what holds it. In the order of their names. */
  readonly nodes: readonly NodeAnswer[]
  readonly problems: readonly { readonly object: string; readonly problem: string }[]
}

export interface BudgetAnswer {
  readonly instanceManager: string
  readonly node: string
  /** `leave`: neither made nor deleted, as while the instance manager does not run. */
  readonly wanted: 'present' | 'absent' | 'leave'
  /**
   * Whether a budget of ours has to be there as well. `welcome`: it is neither made nor deleted, since it is not known whether
   * Longhorn's own does it.
   */
  readonly hold: 'needed' | 'welcome' | 'needless'
  readonly reason: Reason
  readonly explanation: string
}

export interface EvictionAnswer {
  readonly replica: string
  readonly node: string
  readonly isRequested: boolean
  /** The reason of the event when the flag changes, in Longhorn's own words. */
  readonly event: 'EvictionAutomatic' | 'EvictionUserRequested' | 'EvictionCanceled' | 'KubernetesNodeNotReady'
  readonly changes: boolean
  readonly explanation: string
}

export interface NodeAnswer {
  readonly node: string
  readonly mayDrain: boolean
  readonly reason: Reason
  readonly explanation: string
  /** What is left to move, where something moves. */
  readonly bytesLeft: number
  readonly blockers: readonly ReplicaBlocker[]
}

export interface ReplicaBlocker {
  /** `replica/vol-1-r-a`, `volume/vol-1` */
  readonly object: string
  readonly volume: string
  readonly reason: Reason
  readonly explanation: string
  readonly wayOut: string
}
