import type { LostQuorum } from './lost-quorum.ts'
import type { RunningOsds } from './running-osds.ts'
import type { FencedCluster, MachineBudgetView } from './snapshot.ts'

/** A cluster that is managed, and what its machines carry. */
export interface LabelledCluster {
  readonly cluster: FencedCluster
  /** Its place in the list of those that are managed. */
  readonly at: number
  readonly key: string
  readonly osds: RunningOsds
  /** Ceph is silent because its monitors are on dead nodes. */
  readonly quorum: LostQuorum | undefined
  /** Nodes with OSDs of it that run or may run, and that no Machine has. In order. */
  readonly unclaimed: readonly string[]
  readonly budgetName: string
  /** The budget it has. */
  readonly budget: MachineBudgetView | undefined
  /** Others that were made for it, in another namespace or under another name. */
  readonly formerBudgets: readonly MachineBudgetView[]
}
