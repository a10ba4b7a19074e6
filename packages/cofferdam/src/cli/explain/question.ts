import type { CephClusterExplanation } from '../../explain/explain-ceph-cluster.ts'
import type { ClaimExplanation } from '../../explain/explain-claim.ts'
import type { MachineExplanation } from '../../explain/explain-machine.ts'
import type { OsdExplanation } from '../../explain/explain-osd.ts'
import type { PodsExplanation } from '../../explain/explain-pods-of.ts'
import type { RequestExplanation } from '../../explain/explain-request.ts'
import type { VolumeExplanation } from '../../explain/explain-volume.ts'
import type { ZoneExplanation } from '../../explain/explain-zone.ts'
import type { BudgetExplanation, NodeExplanation, PodExplanation } from '../../explain/explanation.ts'
import type { Verdict } from '../../explain/judge-unread.ts'
import type { WorkloadKind } from './explain-subject.ts'

/** What is known of one object, before it is said when and how completely it was seen. */
export type Answer =
  | ({ readonly kind: 'node' } & NodeExplanation)
  | ({ readonly kind: 'pod' } & PodExplanation)
  | ({ readonly kind: 'pdb' } & BudgetExplanation)
  | ({ readonly kind: 'nodedisruption' } & RequestExplanation)
  | ({ readonly kind: WorkloadKind } & PodsExplanation)
  | ({ readonly kind: 'pvc' } & ClaimExplanation)
  | ({ readonly kind: 'volume' } & VolumeExplanation)
  | ({ readonly kind: 'zone' } & ZoneExplanation)
  | ({ readonly kind: 'machine' } & MachineExplanation)
  | ({ readonly kind: 'osd' } & OsdExplanation)
  | ({ readonly kind: 'cephcluster' } & CephClusterExplanation)

export type Explained = Answer & {
  readonly verdict: Verdict
  readonly observedAt: string
  /** What could not be read; empty when everything was seen. */
  readonly notSeen: readonly string[]
}
