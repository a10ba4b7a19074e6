import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Reason } from '../shared/reasons.ts'
import type { ClusterReports } from './cluster-reports.ts'

/** Writes that the API server refused for want of a right: each is counted, and each right recorded once for as long as it is missing. */
export class RefusedWrites {
  readonly #reports: Pick<ClusterReports, 'countRefusedWrite'>
  readonly #events: EventRecorder<Reason>

  constructor(reports: Pick<ClusterReports, 'events' | 'countRefusedWrite'>) {
    this.#reports = reports
    this.#events = reports.events.scoped()
  }

  async report(key: string, cluster: CephCluster, message: string): Promise<void> {
    this.#reports.countRefusedWrite(key)
    await this.#events.record(cluster, { type: 'Warning', reason: 'RightsMissing', note: message }, { group: key })
  }

  /** The write went through, or nobody is left to notify. */
  forget(key: string): void {
    this.#events.forget(key)
  }
}
