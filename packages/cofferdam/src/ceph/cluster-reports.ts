import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Reason } from '../shared/reasons.ts'

/** Where events of a Ceph cluster go, whoever records them. */
export interface ClusterReports {
  readonly events: EventRecorder<Reason>
  countDisagreement(cluster: string): void
  countRefusedWrite(cluster: string): void
}
