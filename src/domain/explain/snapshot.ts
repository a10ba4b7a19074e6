import type { Node, Pod } from '../../api/core.ts'
import type { PodDisruptionBudget } from '../../api/policy.ts'
import type { StorageView } from './storage-view.ts'

/** What guards pods: their budgets, the pods that those budgets count, and the storage behind some of them. */
export interface GuardSnapshot {
  readonly budgets: readonly PodDisruptionBudget[]
  readonly pods: readonly Pod[]
  readonly storage: readonly StorageView[]
}

export interface NodeSnapshot extends GuardSnapshot {
  readonly node: Node
  readonly now: string
}
