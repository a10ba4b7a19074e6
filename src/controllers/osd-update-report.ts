import type { CephCluster } from '../api/rook.ts'
import type { OsdUpdateDecision } from '../domain/osd-update/decision.ts'
import type { Reason } from '../domain/reasons.ts'
import type { CephReports } from './ceph-drain-report.ts'

export type UpdateReports = Pick<CephReports, 'event' | 'countDisagreement' | 'countRefusedWrite'>

export interface UpdateReport {
  readonly key: string
  readonly cluster: CephCluster
  readonly decision: Pick<OsdUpdateDecision, 'reason' | 'explanation' | 'record'>
  readonly problems: readonly string[]
  /** What was told before, by this process or the one before it. */
  readonly recordedReason: string | undefined
}

const calm: readonly Reason[] = ['OsdsUpToDate', 'OsdUpdateOff', 'ClusterDeleted']
const fine: readonly Reason[] = [...calm, 'OsdsUpdating', 'OsdUpdateSoaks', 'StorageKeyHeld']
const disagreements: readonly Reason[] = ['CephDisagrees', 'ChecksDisagree']

/** Tells what changed since it was last told, and nothing else. */
export class OsdUpdateReporter {
  readonly #reports: UpdateReports
  readonly #told = new Map<string, { readonly reason: Reason; readonly news: string; readonly problems: string }>()
  readonly #refused = new Map<string, string>()

  constructor(reports: UpdateReports) {
    this.#reports = reports
  }

  async report({ key, cluster, decision, problems, recordedReason }: UpdateReport): Promise<void> {
    const { reason, explanation, record } = decision
    const before = this.#told.get(key)
    const told = {
      reason,
      news: JSON.stringify([reason, record.frozen?.osd, record.failed.map(({ osd }) => osd)]),
      problems: problems.join('; '),
    }
    this.#told.set(key, told)
    this.#refused.delete(key)
    const isFirst = before === undefined
    if (disagreements.includes(reason) && before?.reason !== reason) this.#reports.countDisagreement(key)
    const isNews = isFirst
      ? reason !== recordedReason && !(recordedReason === undefined && calm.includes(reason))
      : before.news !== told.news
    if (isNews) {
      await this.#reports.event(cluster, {
        type: fine.includes(reason) && record.failed.length === 0 ? 'Normal' : 'Warning',
        reason,
        note: explanation,
      })
    }
    if (told.problems !== '' && told.problems !== (before?.problems ?? '')) {
      await this.#reports.event(cluster, { type: 'Warning', reason: 'ObjectsUnusable', note: told.problems })
    }
  }

  /** The API server refused a write for want of a right: told once for each right. */
  async reportRefusal(key: string, cluster: CephCluster, message: string): Promise<void> {
    this.#reports.countRefusedWrite(key)
    if (this.#refused.get(key) === message) return
    this.#refused.set(key, message)
    await this.#reports.event(cluster, { type: 'Warning', reason: 'RightsMissing', note: message })
  }

  forget(key: string): void {
    this.#told.delete(key)
    this.#refused.delete(key)
  }
}
