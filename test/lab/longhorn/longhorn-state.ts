import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type {
  LonghornInstanceManager,
  LonghornNode,
  LonghornReplica,
  LonghornSetting,
  LonghornVolume,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'

/** Everything that the drain handling of a Longhorn reads, as the API server has it. */
export interface LonghornState {
  readonly settings: readonly LonghornSetting[]
  readonly nodes: readonly LonghornNode[]
  readonly kubeNodes: readonly Node[]
  readonly volumes: readonly LonghornVolume[]
  readonly replicas: readonly LonghornReplica[]
  readonly instanceManagers: readonly LonghornInstanceManager[]
  readonly budgets: readonly PodDisruptionBudget[]
}

/** What `longhorn-oracle` prints about one state. */
export interface LonghornAnswers {
  readonly budgets: readonly LonghornBudgetAnswer[]
  readonly evictions: readonly LonghornEvictionAnswer[]
  /** Why the state could not be read at all. */
  readonly error?: string
}

export interface LonghornBudgetAnswer {
  readonly instanceManager: string
  readonly does: 'create' | 'delete' | 'nothing'
  /** Whether nothing on the node holds the budget, cordoned or not. */
  readonly mayGo: 'yes' | 'no' | 'unknown'
  /** What holds it, or why that is not known, in Longhorn's words. */
  readonly why?: string
  readonly error?: string
}

export interface LonghornEvictionAnswer {
  readonly replica: string
  readonly evict: boolean
  /** Of the event where the flag changes. */
  readonly reason?: string
  readonly error?: string
}
