import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { Reason } from '../shared/reasons.ts'

/** Where news of a Ceph cluster goes, whoever has them. */
export interface ClusterReports {
  /** Tells an Event about the cluster. Never throws: news is not worth a failed reconcile. */
  event(
    about: CephCluster,
    news: { readonly type: 'Normal' | 'Warning'; readonly reason: Reason; readonly note: string },
  ): Promise<void>
  countDisagreement(cluster: string): void
  countRefusedWrite(cluster: string): void
}
