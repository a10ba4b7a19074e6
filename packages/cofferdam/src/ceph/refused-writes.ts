import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { ClusterReports } from './cluster-reports.ts'

/** Writes that the API server refused for want of a right: each is counted, and each right told once for as long as it is missing. */
export class RefusedWrites {
  readonly #reports: Pick<ClusterReports, 'event' | 'countRefusedWrite'>
  readonly #told = new Map<string, string>()

  constructor(reports: Pick<ClusterReports, 'event' | 'countRefusedWrite'>) {
    this.#reports = reports
  }

  async report(key: string, cluster: CephCluster, message: string): Promise<void> {
    this.#reports.countRefusedWrite(key)
    if (this.#told.get(key) === message) return
    this.#told.set(key, message)
    await this.#reports.event(cluster, { type: 'Warning', reason: 'RightsMissing', note: message })
  }

  /** The write went through, or nobody is left to be told. */
  forget(key: string): void {
    this.#told.delete(key)
  }
}
