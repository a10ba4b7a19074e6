import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { EventSubject } from '@cofferdam/kubernetes/runtime/build-event.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { ClusterReports } from '../../../ceph/cluster-reports.ts'
import { RefusedWrites } from '../../../ceph/refused-writes.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { problemsText } from '../../../shared/record-limits.ts'
import { budgetReasons } from '../domain/budget-reasons.ts'
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
    readonly ignoredPools: number
    readonly silentSeconds: number
    readonly recordRefusedSeconds: number
    readonly isLogFollowed: boolean
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
  readonly isLogFollowed: boolean
  /** Whose the budgets and the updates of OSDs are. */
  readonly ownership: RecordedOwnership
  /** Whether this is about something that is not as it should be. */
  readonly isWarning: boolean
  /** The reason that was written down before, by this process or the one before it. */
  readonly recordedReason: string | undefined
  /** A budget as it stands; undefined while it is not in view. */
  readonly budgetOf: (name: string) => EventSubject | undefined
}

/** Events about the budgets of a cluster. */
const budgetsOf = (key: string) => `${key} budgets`

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
    const { key, cluster, decision, silentMs, recordRefusedMs, isLogFollowed, ownership } = report
    const { isWarning, recordedReason } = report
    const { reason, explanation, state, domains, alarm } = decision
    this.#refused.forget(key)
    this.#reports.show({
      cluster: key,
      reason,
      openDomains: state.openDomains.length,
      closedDomains: domains.filter(({ mayDrain }) => !mayDrain).length,
      problems: decision.problems.length,
      ignoredPools: decision.problems.filter(({ reason: word }) => word === 'PoolsIgnored').length,
      silentSeconds: silentMs / 1_000,
      recordRefusedSeconds: recordRefusedMs / 1_000,
      isLogFollowed,
      budgets: ownership.mode,
      updates: ownership.updates ?? 'off',
    })
    if (alarm && !this.#alarmed.has(key)) this.#reports.countDisagreement(key)
    if (alarm) this.#alarmed.add(key)
    else this.#alarmed.delete(key)
    // Whose drains another operator lets in is not ours to report.
    const openDomains = ownership.mode === 'manage' ? state.openDomains : []
    const topic = { group: key, slot: 'decision', state: JSON.stringify([reason, openDomains]) }
    if (reason === recordedReason) this.#events.assume(topic)
    await this.#events.record(cluster, { type: isWarning ? 'Warning' : 'Normal', reason, note: explanation }, topic)
    await this.#events.recordAll(
      budgetsOf(key),
      (ownership.mode === 'manage' ? budgetReasons(decision) : []).map(({ budget, ...why }) => ({
        slot: budget,
        // Without the text, which changes while data moves.
        state: why.reason,
        about: report.budgetOf(budget),
        type: 'Normal',
        reason: why.reason,
        note: `No OSD of this budget may be evicted: ${why.explanation}`,
      })),
    )
    const isIgnored = ({ reason: word }: ObjectProblem) => word === 'PoolsIgnored'
    await this.#reportProblems(key, cluster, {
      reason: 'ObjectsUnusable',
      slot: 'problems',
      note: problemsText(decision.problems.filter((problem) => !isIgnored(problem))),
    })
    await this.#reportProblems(key, cluster, {
      reason: 'PoolsIgnored',
      slot: 'ignored-pools',
      note: problemsText(decision.problems.filter(isIgnored)),
      // How many groups they have changes, and is not known while Ceph is silent.
      state: decision.problems
        .filter(isIgnored)
        .map(({ object }) => object)
        .join(),
    })
  }

  async #reportProblems(
    key: string,
    cluster: CephCluster,
    {
      reason,
      slot,
      note,
      state = note,
    }: { readonly reason: Reason; readonly slot: string; readonly note: string; readonly state?: string },
  ): Promise<void> {
    if (note === '') this.#events.forget(key, slot)
    else await this.#events.record(cluster, { type: 'Warning', reason, note }, { group: key, slot, state })
  }

  /** The API server refused a write for want of a right. */
  reportRefusal(key: string, cluster: CephCluster, message: string): Promise<void> {
    return this.#refused.report(key, cluster, message)
  }

  forget(key: string): void {
    this.#events.forget(key)
    this.#events.forget(budgetsOf(key))
    this.#alarmed.delete(key)
    this.#refused.forget(key)
    this.#reports.forget(key)
  }
}
