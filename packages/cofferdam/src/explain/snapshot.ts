import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { DisruptionSnapshot } from '../capabilities/drain-lock/domain/snapshot.ts'
import type { HoldView } from '../capabilities/drain-lock/view/hold-view.ts'
import type { LonghornView } from '../capabilities/longhorn-drain/view/longhorn-view.ts'
import type { Observed } from '../shared/observed.ts'
import type { StorageView } from '../shared/storage-view.ts'

/** What guards pods: their budgets, the pods that those budgets count, and the storage behind some of them. */
export interface GuardSnapshot {
  readonly budgets: readonly PodDisruptionBudget[]
  readonly pods: readonly Pod[]
  readonly storage: readonly StorageView[]
  /** Left out where there is no Longhorn. */
  readonly longhorn?: LonghornView
  /** Who holds what; left out where it was not read. */
  readonly holds?: HoldView
  /** What could not be read, each as `WHAT: WHY`. */
  readonly unread?: readonly string[]
  /** What a drain of the node for a reboot would see, for pods that ask to stay. */
  readonly rehearsal?: DisruptionSnapshot
}

/** Where Longhorn is, as far as that can be seen. */
export interface LonghornPlaces {
  /** The nodes that Longhorn itself lists. */
  readonly nodes: Observed<ReadonlySet<string>>
  /** Something of it is somewhere in the cluster. Asked only where it does not list its nodes. */
  readonly isInstalled: boolean
}

export interface NodeSnapshot extends GuardSnapshot {
  readonly node: Node
  /** Where Longhorn is; left out where nobody asked. */
  readonly longhornPlaces?: LonghornPlaces
  readonly now: string
}
