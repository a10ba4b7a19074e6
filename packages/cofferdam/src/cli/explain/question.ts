import type { CephClusterExplanation } from '../../explain/explain-ceph-cluster.ts'
import type { MachineExplanation } from '../../explain/explain-machine.ts'
import type { OsdExplanation } from '../../explain/explain-osd.ts'
import type { RequestExplanation } from '../../explain/explain-request.ts'
import type { BudgetExplanation, NodeExplanation, PodExplanation } from '../../explain/explanation.ts'

export type Explained = (
  | ({ readonly kind: 'node' } & NodeExplanation)
  | ({ readonly kind: 'pod' } & PodExplanation)
  | ({ readonly kind: 'pdb' } & BudgetExplanation)
  | ({ readonly kind: 'nodedisruption' } & RequestExplanation)
  | ({ readonly kind: 'machine' } & MachineExplanation)
  | ({ readonly kind: 'osd' } & OsdExplanation)
  | ({ readonly kind: 'cephcluster' } & CephClusterExplanation)
) & {
  readonly observedAt: string
  /** What could not be read; empty when everything was seen. */
  readonly notSeen: readonly string[]
}
