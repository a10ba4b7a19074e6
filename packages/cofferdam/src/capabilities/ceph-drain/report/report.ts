import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { ClusterReports } from '../../../ceph/cluster-reports.ts'
import { RefusedWrites } from '../../../ceph/refused-writes.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { problemsText } from '../../../shared/record-limits.ts'
import type { CephDrainDecision } from '../domain/decision.ts'

/** Where news of Ceph clusters and the figures of their drains go. */
export interface CephReports extends ClusterReports {
  show(figures: {
    readonly cluster: string
    readonly reason: Reason
    readonly openDomains: number
    readonly closedDomains: number
    readonly problems: number
    readonly silentSeconds: number
    readonly recordRefusedSeconds: number
  }): void
  forget(cluster: string): void
}

interface Told {
  readonly news: string
  readonly problems: string
  readonly isAlarmed: boolean
}

export interface DrainReport {
  readonly key: string
  readonly cluster: CephCluster
  readonly decision: CephDrainDecision
  readonly silentMs: number
  /** How long the record has been refused. */
  readonly recordRefusedMs: number
  /** Whether this is about something that is not as it should be. */
  readonly isWarning: boolean
  /** The reason that was written down before, by this process or the one before it. */
  readonly recordedReason: string | undefined
}

/** Tells what changed since it was last told, and nothing else. */
export class CephDrainReporter {
  readonly #reports: CephReports
  readonly #told = new Map<string, Told>()
  readonly #refused: RefusedWrites

  constructor(reports: CephReports) {
    this.#reports = reports
    this.#refused = new RefusedWrites(reports)
  }

  async report(report: DrainReport): Promise<void> {
    const { key, cluster, decision, silentMs, recordRefusedMs, isWarning, recordedReason } = report
    const { reason, explanation, state, domains, alarm } = decision
    this.#refused.forget(key)
    this.#reports.show({
      cluster: key,
      reason,
      openDomains: state.openDomains.length,
      closedDomains: domains.filter(({ mayDrain }) => !mayDrain).length,
      problems: decision.problems.length,
      silentSeconds: silentMs / 1_000,
      recordRefusedSeconds: recordRefusedMs / 1_000,
    })
    const before = this.#told.get(key)
    const told: Told = {
      news: JSON.stringify([reason, state.openDomains]),
      problems: problemsText(decision.problems),
      isAlarmed: alarm,
    }
    this.#told.set(key, told)
    if (alarm && before?.isAlarmed !== true) this.#reports.countDisagreement(key)
    const isNews = before === undefined ? reason !== recordedReason : before.news !== told.news
    if (isNews) {
      await this.#reports.event(cluster, { type: isWarning ? 'Warning' : 'Normal', reason, note: explanation })
    }
    if (told.problems !== '' && told.problems !== (before?.problems ?? '')) {
      await this.#reports.event(cluster, { type: 'Warning', reason: 'ObjectsUnusable', note: told.problems })
    }
  }

  /** The API server refused a write for want of a right. */
  reportRefusal(key: string, cluster: CephCluster, message: string): Promise<void> {
    return this.#refused.report(key, cluster, message)
  }

  forget(key: string): void {
    this.#told.delete(key)
    this.#refused.forget(key)
    this.#reports.forget(key)
  }
}
