import type { Fence } from './decision.ts'
import type { ClusterVerdict } from './judge-cluster.ts'
import type { LabelledCluster } from './labelled-cluster.ts'
import type { MachineView } from './snapshot.ts'

export interface JudgedCluster {
  readonly labelled: LabelledCluster
  readonly fences: readonly Fence[]
  readonly verdict: ClusterVerdict
  readonly machines: StorageMachines
}

/** The machines with OSDs of a cluster. */
export interface StorageMachines {
  /** In the namespace of the budget. */
  readonly expected: number
  readonly ready: number
  readonly unlabelled: MachineView | undefined
}
