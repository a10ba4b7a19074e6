import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Reason } from '../shared/reasons.ts'

/** Where news of a Ceph cluster goes, whoever has them. */
export interface ClusterReports {
  readonly events: EventRecorder<Reason>
  countDisagreement(cluster: string): void
  countRefusedWrite(cluster: string): void
}
