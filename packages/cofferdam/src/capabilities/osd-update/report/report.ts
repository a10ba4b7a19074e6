import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ClusterReports } from '../../../ceph/cluster-reports.ts'
import { RefusedWrites } from '../../../ceph/refused-writes.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { OsdUpdateDecision } from '../domain/decision.ts'
import { idRanges } from '../domain/id-ranges.ts'
import type { UpdateRecord } from '../domain/snapshot.ts'
import type { DisagreeingSource, OsdUpdateFigures } from '../domain/update-figures.ts'

export interface UpdateReports extends ClusterReports {
  /** Figures; without it they go nowhere. */
  readonly update?: {
    show(figures: OsdUpdateFigures): void
    countUpdated(cluster: string, count: number): void
    countFreeze(cluster: string): void
    countDisagreement(cluster: string, source: DisagreeingSource): void
    forget(cluster: string): void
  }
}

export interface UpdateReport {
  readonly key: string
  readonly cluster: CephCluster
  readonly decision: Pick<OsdUpdateDecision, 'reason' | 'explanation' | 'record' | 'progress' | 'start'>
  readonly problems: readonly string[]
  /** What was on record before this decision, by this process or the one before it: that was told. */
  readonly recorded: { readonly reason: string | undefined; readonly record: UpdateRecord }
}

const calm: readonly string[] = ['OsdsUpToDate', 'OsdUpdateOff', 'ClusterDeleted'] satisfies readonly Reason[]
const over: readonly string[] = [...calm, 'OsdUpdateFailed' satisfies Reason]
const fine: readonly Reason[] = [
  'OsdsUpToDate',
  'OsdUpdateOff',
  'ClusterDeleted',
  'OsdsUpdating',
  'OsdUpdateSoaks',
  'DrainFirst',
]
const disagreeing: Readonly<Partial<Record<Reason, DisagreeingSource>>> = {
  CephDisagrees: 'ceph',
  ChecksDisagree: 'second-check',
}
/** In the middle of an update they come and go with every round; news is what stays. */
const passing: readonly string[] = [
  'OsdUpdateBlocked',
  'SafetyUnknown',
  'PgsNotClean',
  'LedgerUnknown',
] satisfies readonly Reason[]
const moving: readonly (string | undefined)[] = ['OsdsUpdating', 'OsdUpdateSoaks'] satisfies readonly Reason[]
const lastingMs = 60_000
const mostNamed = 5

interface Told {
  /** Of the last decision. */
  readonly reason: string | undefined
  readonly record: UpdateRecord
  /** Of the last news, where that is older: what has been so since then may pass. */
  readonly unsaid?: { readonly told: string | undefined; readonly sinceMs: number }
}

/** Tells what changed since it was last told, and nothing else. */
export class OsdUpdateReporter {
  readonly #reports: UpdateReports
  readonly #clock: Pick<Clock, 'now'>
  readonly #told = new Map<string, Told>()
  readonly #problems = new Map<string, ReadonlySet<string>>()
  readonly #refused: RefusedWrites

  constructor(reports: UpdateReports, clock: Pick<Clock, 'now'>) {
    this.#reports = reports
    this.#refused = new RefusedWrites(reports)
    this.#clock = clock
  }

  async report({ key, cluster, decision, problems, recorded }: UpdateReport): Promise<void> {
    const { reason, record } = decision
    const isFirst = !this.#told.has(key)
    const before: Told = this.#told.get(key) ?? recorded
    this.#refused.forget(key)
    this.#count(key, decision, before)
    // Of what was never on record there is nothing to tell while it is calm.
    const isFrozenAnew = record.frozen !== undefined && record.frozen.osd !== before.record.frozen?.osd
    const told = before.unsaid === undefined ? before.reason : before.unsaid.told
    const unsaid = this.#unsaid(reason, before, told)
    this.#told.set(key, { reason, record, ...(unsaid && { unsaid }) })
    const isChange = told !== reason && !(moving.includes(told) && moving.includes(reason))
    const isUnheard = isFirst && told === undefined && calm.includes(reason)
    const isNews = (isChange || isFrozenAnew) && !isUnheard && unsaid === undefined
    if (isNews) {
      const type = fine.includes(reason) || reason === 'StorageKeyHeld' ? 'Normal' : 'Warning'
      await this.#reports.event(cluster, { type, reason, note: noteOf(decision, { ...before, reason: told }) })
    }
    await this.#tellFailures(cluster, decision, { before, isNews })
    await this.#tellProblems(key, cluster, problems)
  }

  /** The API server refused a write for want of a right. */
  reportRefusal(key: string, cluster: CephCluster, message: string): Promise<void> {
    return this.#refused.report(key, cluster, message)
  }

  forget(key: string): void {
    this.#told.delete(key)
    this.#problems.delete(key)
    this.#refused.forget(key)
    this.#reports.update?.forget(key)
  }

  /** What was told last, while something else has been so for too short a time to be told. */
  #unsaid(reason: string, before: Told, told: string | undefined): Told['unsaid'] {
    if (!moving.includes(told) || !passing.includes(reason)) return undefined
    const nowMs = this.#clock.now()
    const sinceMs = before.reason === reason ? (before.unsaid?.sinceMs ?? nowMs) : nowMs
    return nowMs - sinceMs < lastingMs ? { told, sinceMs } : undefined
  }

  #count(key: string, { reason, record, progress }: UpdateReport['decision'], before: Told): void {
    const { update } = this.#reports
    update?.show({ cluster: key, ...progress, running: progress.running.length, isFrozen: record.frozen !== undefined })
    const isSame = before.record.generation === record.generation
    const updated = record.done - (isSame ? before.record.done : 0)
    if (updated > 0) update?.countUpdated(key, updated)
    if (record.frozen !== undefined && record.frozen.atMs !== before.record.frozen?.atMs) update?.countFreeze(key)
    const source = disagreeing[reason]
    if (source === undefined || before.reason === reason) return
    this.#reports.countDisagreement(key)
    update?.countDisagreement(key, source)
  }

  /** Those that were given up while others go on; the one that froze the update has its own news. */
  async #tellFailures(
    cluster: CephCluster,
    { reason, record, explanation }: UpdateReport['decision'],
    { before, isNews }: { readonly before: Told; readonly isNews: boolean },
  ): Promise<void> {
    const known = new Set(
      before.record.generation === record.generation ? before.record.failed.map(({ osd }) => osd) : [],
    )
    const isTold = ({ osd }: { readonly osd: number }) =>
      isNews && (osd === record.frozen?.osd || (reason === 'OsdUpdateFailed' && explanation.startsWith(`osd.${osd}:`)))
    const news = record.failed.filter((failure) => !known.has(failure.osd) && !isTold(failure))
    if (news.length === 0) return
    const named = news.slice(0, mostNamed).map(({ osd, why }) => `osd.${osd}: ${why}`)
    const more = news.length > named.length ? `; and ${news.length - named.length} more` : ''
    await this.#reports.event(cluster, {
      type: 'Warning',
      reason: 'OsdGivenUp',
      note: `${named.join('; ')}${more}`,
    })
  }

  /** Each once, for as long as it lasts. */
  async #tellProblems(key: string, cluster: CephCluster, problems: readonly string[]): Promise<void> {
    const known = this.#problems.get(key)
    this.#problems.set(key, new Set(problems))
    const news = problems.filter((problem) => known?.has(problem) !== true)
    if (news.length === 0) return
    await this.#reports.event(cluster, { type: 'Warning', reason: 'ObjectsUnusable', note: news.join('; ') })
  }
}

/** What began, goes on or ended, in figures; all else says itself why it is so. */
function noteOf({ reason, explanation, record, progress, start }: UpdateReport['decision'], before: Told): string {
  if (reason === 'OsdsUpdating') {
    const left = progress.running.length + progress.waiting
    const first = start.length === 0 ? '' : `; osd ${idRanges(start)} first`
    const least = progress.lowerBound < progress.roundsLeft ? `, ${progress.lowerBound} at least` : ''
    const rounds = progress.roundsLeft === 0 ? '' : ` in about ${counted(progress.roundsLeft, 'round')}${least}`
    if (before.reason === undefined || over.includes(before.reason)) {
      return `the update begins: ${counted(left, 'OSD')}${rounds}${first}`
    }
    const thawed = before.record.frozen
    const isBack = thawed !== undefined && record.generation === before.record.generation
    return `the update goes on${isBack ? `, osd.${thawed.osd} is back` : ''}: ${counted(left, 'OSD')} left${rounds}`
  }
  if (reason !== 'OsdsUpToDate' || record.done === 0) return explanation
  const { startedMs, lastEndedMs } = record
  const took = startedMs === undefined || lastEndedMs === undefined ? '' : ` in ${durationOf(lastEndedMs - startedMs)}`
  return `the update is done: ${counted(record.done, 'OSD')} updated${took}; ${explanation}`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function durationOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  if (hours > 0) return `${hours}h${minutes}m`
  return minutes > 0 ? `${minutes}m${seconds % 60}s` : `${seconds}s`
}
