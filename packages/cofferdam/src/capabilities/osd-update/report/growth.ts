import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { foundNew } from '@cofferdam/kubernetes/runtime/event-memory.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { ClusterReports } from '../../../ceph/cluster-reports.ts'
import { RefusedWrites } from '../../../ceph/refused-writes.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { GrowthReport } from '../domain/growth-steps.ts'
import type { OsdGrowthFigures } from '../domain/update-figures.ts'

export interface GrowthReports extends Pick<ClusterReports, 'events' | 'countRefusedWrite'> {
  /** Figures; without it they go nowhere. */
  readonly growth?: {
    showGrowth(figures: OsdGrowthFigures): void
    countCreated(cluster: string, count: number): void
    forgetGrowth(cluster: string): void
  }
}

const mostNamed = 5

/** Records what was done, and of troubles those that are new. */
export class OsdGrowthReporter {
  readonly #reports: GrowthReports
  readonly #events: EventRecorder<Reason>
  readonly #growing = new Set<string>()
  readonly #refused: RefusedWrites

  constructor(reports: GrowthReports) {
    this.#reports = reports
    this.#events = reports.events.scoped()
    this.#refused = new RefusedWrites(reports)
  }

  async report(key: string, cluster: CephCluster, report: GrowthReport): Promise<void> {
    const { added, prepared, errors, awaited, unusable } = report
    this.#refused.forget(key)
    this.#reports.growth?.showGrowth({ cluster: key, awaited, failed: errors.length, unusable })
    if (added.length > 0) this.#reports.growth?.countCreated(key, added.length)
    if (prepared.length > 0) {
      const note = `searching for new disks on ${listed(prepared)}`
      await this.#events.record(cluster, { type: 'Normal', reason: 'OsdPrepareStarted', note })
    }
    if (added.length > 0) {
      const note = `added ${listed(added.map(({ id, place }) => `osd.${id} on ${place}`))}`
      await this.#events.record(cluster, { type: 'Normal', reason: 'OsdAdded', note })
    }
    this.#growing.add(key)
    // Remembered by place, also while there is none: a Job that tries again fails with the same text.
    const newErrors = errors.filter(({ place, asked, why }) =>
      this.#events.isChange({ group: key, slot: place, state: `${asked}: ${why}` }),
    )
    if (newErrors.length === 0) return
    const note = listed(newErrors.map(({ place, why }) => `${place}: ${why}`))
    await this.#events.record(cluster, { type: 'Warning', reason: 'OsdGrowthFailed', note }, foundNew)
  }

  /** Growth was on before, as far as this process knows. */
  async reportOff(key: string, cluster: CephCluster, explanation: string): Promise<void> {
    if (!this.#growing.has(key)) return
    this.forget(key)
    await this.#events.record(cluster, { type: 'Normal', reason: 'OsdGrowthOff', note: explanation })
  }

  /** The API server refused a write for want of a right. */
  reportRefusal(key: string, cluster: CephCluster, message: string): Promise<void> {
    return this.#refused.report(key, cluster, message)
  }

  forget(key: string): void {
    this.#reports.growth?.forgetGrowth(key)
    this.#growing.delete(key)
    this.#events.forget(key)
    this.#refused.forget(key)
  }
}

function listed(items: readonly string[]): string {
  const rest = items.length - mostNamed
  return rest > 0 ? `${items.slice(0, mostNamed).join('; ')} and ${rest} more` : items.join('; ')
}
