import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { ClusterReports } from '../../../ceph/cluster-reports.ts'
import { RefusedWrites } from '../../../ceph/refused-writes.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { problemsText } from '../../../shared/record-limits.ts'
import type { CephDrainDecision } from '../domain/decision.ts'
import type { RecordedOwnership } from '../domain/drain-record.ts'

/** Where events of Ceph clusters and the metrics of their drains go. */
export interface CephReports extends ClusterReports {
  show(figures: {
    readonly cluster: string
    readonly reason: Reason
    readonly openDomains: number
    readonly closedDomains: number
    readonly problems: number
    readonly silentSeconds: number
    readonly recordRefusedSeconds: number
    readonly budgets: string
    readonly updates: string
  }): void
  forget(cluster: string): void
}

export interface DrainReport {
  readonly key: string
  readonly cluster: CephCluster
  readonly decision: CephDrainDecision
  readonly silentMs: number
  /** How long the record has been refused. */
  readonly recordRefusedMs: number
  /** Whose the budgets and the updates of OSDs are. */
  readonly ownership: RecordedOwnership
  /** Whether this is about something that is not as it should be. */
  readonly isWarning: boolean
  /** The reason that was written down before, by this process or the one before it. */
  readonly recordedReason: string | undefined
}

/** Records what changed since it was last recorded, and nothing else. */
export class CephDrainReporter {
  readonly #reports: CephReports
  readonly #events: EventRecorder<Reason>
  readonly #refused: RefusedWrites
  readonly #alarmed = new Set<string>()

  constructor(reports: CephReports) {
    this.#reports = reports
    this.#events = reports.events.scoped()
    this.#refused = new RefusedWrites(reports)
  }

  async report(report: DrainReport): Promise<void> {
    const { key, cluster, decision, silentMs, recordRefusedMs, ownership, isWarning, recordedReason } = report
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
      budgets: ownership.mode,
      updates: ownership.updates ?? 'off',
    })
    if (alarm && !this.#alarmed.has(key)) this.#reports.countDisagreement(key)
    if (alarm) this.#alarmed.add(key)
    else this.#alarmed.delete(key)
    const topic = { group: key, slot: 'decision', state: JSON.stringify([reason, state.openDomains]) }
    if (reason === recordedReason) this.#events.assume(topic)
    await this.#events.record(cluster, { type: isWarning ? 'Warning' : 'Normal', reason, note: explanation }, topic)
    await this.#reportProblems(key, cluster, problemsText(decision.problems))
  }

  async #reportProblems(key: string, cluster: CephCluster, note: string): Promise<void> {
    const topic = { group: key, slot: 'problems' }
    if (note === '') this.#events.forget(key, topic.slot)
    else await this.#events.record(cluster, { type: 'Warning', reason: 'ObjectsUnusable', note }, topic)
  }

  /** The API server refused a write for want of a right. */
  reportRefusal(key: string, cluster: CephCluster, message: string): Promise<void> {
    return this.#refused.report(key, cluster, message)
  }

  forget(key: string): void {
    this.#events.forget(key)
    this.#alarmed.delete(key)
    this.#refused.forget(key)
    this.#reports.forget(key)
  }
}
