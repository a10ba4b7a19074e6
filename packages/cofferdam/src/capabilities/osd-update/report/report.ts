import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { foundNew } from '@cofferdam/kubernetes/runtime/event-memory.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { ClusterReports } from '../../../ceph/cluster-reports.ts'
import { RefusedWrites } from '../../../ceph/refused-writes.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { OsdUpdateDecision } from '../domain/decision.ts'
import { idRanges } from '../domain/id-ranges.ts'
import type { UpdateRecord } from '../domain/snapshot.ts'
import type { DisagreeingSource, OsdUpdateFigures } from '../domain/update-figures.ts'
import { type OverrideSetting, overrideMeanings } from '../domain/update-override.ts'

export interface UpdateReports extends ClusterReports {
  /** Figures; without it they go nowhere. */
  readonly update?: {
    show(figures: OsdUpdateFigures): void
    countUpdated(cluster: string, count: number): void
    countFreeze(cluster: string): void
    countOverride(cluster: string): void
    countDisagreement(cluster: string, source: DisagreeingSource): void
    forget(cluster: string): void
  }
}

export interface UpdateReport {
  readonly key: string
  readonly cluster: CephCluster
  readonly decision: Pick<OsdUpdateDecision, 'reason' | 'explanation' | 'record' | 'progress' | 'start' | 'checksOff'>
  readonly problems: readonly string[]
  /** What was on record before this decision, by this process or the one before it: that was reported. */
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
  'WaitsForRook',
]
const disagreeing: Readonly<Partial<Record<Reason, DisagreeingSource>>> = {
  CephDisagrees: 'ceph',
  ChecksDisagree: 'second-check',
}
/** In the middle of an update they come and go with every round; only what stays is reported. */
const passing: readonly string[] = [
  'OsdUpdateBlocked',
  'SafetyUnknown',
  'PgsNotClean',
  'LedgerUnknown',
  'WaitsForRook',
  'RookNotResponding',
] satisfies readonly Reason[]
const moving: readonly (string | undefined)[] = ['OsdsUpdating', 'OsdUpdateSoaks'] satisfies readonly Reason[]
const lastingMs = 60_000
const mostNamed = 5

/** Records what changed since it was last recorded, and nothing else. */
export class OsdUpdateReporter {
  readonly #reports: UpdateReports
  readonly #events: EventRecorder<Reason>
  readonly #refused: RefusedWrites
  /** The last decision, from which the next is counted. */
  readonly #last = new Map<string, UpdateReport['recorded']>()

  constructor(reports: UpdateReports) {
    this.#reports = reports
    this.#events = reports.events.scoped()
    this.#refused = new RefusedWrites(reports)
  }

  async report({ key, cluster, decision, problems, recorded }: UpdateReport): Promise<void> {
    const { reason, record } = decision
    const before = this.#last.get(key) ?? recorded
    this.#last.set(key, { reason, record })
    this.#refused.forget(key)
    this.#count(key, decision, before)
    const isRelevant = await this.#reportDecision(key, cluster, decision, before)
    await this.#reportFailures(cluster, decision, { before, isRelevant })
    await this.#reportOverrides(key, cluster, decision, before)
    await this.#reportProblems(key, cluster, problems)
  }

  /** The API server refused a write for want of a right. */
  reportRefusal(key: string, cluster: CephCluster, message: string): Promise<void> {
    return this.#refused.report(key, cluster, message)
  }

  forget(key: string): void {
    this.#last.delete(key)
    this.#events.forget(key)
    this.#events.forget(problemsOf(key))
    this.#events.forget(overridesOf(key))
    this.#refused.forget(key)
    this.#reports.update?.forget(key)
  }

  /** Whether it was recorded. */
  async #reportDecision(
    key: string,
    cluster: CephCluster,
    decision: UpdateReport['decision'],
    before: UpdateReport['recorded'],
  ): Promise<boolean> {
    const { reason, record } = decision
    const topic = { group: key }
    // While calm, nothing is reported that was never on record.
    const left = before.reason ?? (calm.includes(reason) ? reason : undefined)
    if (left !== undefined) this.#events.assume({ ...topic, state: stateOf(left) }, left)
    const last = this.#events.lastReason(topic)
    const type = fine.includes(reason) || reason === 'StorageKeyHeld' ? 'Normal' : 'Warning'
    const note = noteOf(decision, { ...before, reason: last })
    return this.#events.record(
      cluster,
      { type, reason, note },
      {
        ...topic,
        state: stateOf(reason),
        isNew: record.frozen !== undefined && record.frozen.osd !== before.record.frozen?.osd,
        ...(moving.includes(last) && passing.includes(reason) ? { lastsMs: lastingMs } : {}),
      },
    )
  }

  #count(
    key: string,
    { reason, record, progress, checksOff }: UpdateReport['decision'],
    before: UpdateReport['recorded'],
  ): void {
    const { update } = this.#reports
    update?.show({
      cluster: key,
      ...progress,
      running: progress.running.length,
      isFrozen: record.frozen !== undefined,
      areChecksOff: checksOff !== undefined,
    })
    if (isOverrideNew(record, before.record)) update?.countOverride(key)
    const isSame = before.record.generation === record.generation
    const updated = record.done - (isSame ? before.record.done : 0)
    if (updated > 0) update?.countUpdated(key, updated)
    if (record.frozen !== undefined && record.frozen.atMs !== before.record.frozen?.atMs) update?.countFreeze(key)
    const source = disagreeing[reason]
    if (source === undefined || before.reason === reason) return
    this.#reports.countDisagreement(key)
    update?.countDisagreement(key, source)
  }

  /** Reports OSDs that were given up while others go on; the one that froze the update has its own event. */
  async #reportFailures(
    cluster: CephCluster,
    { reason, record, explanation }: UpdateReport['decision'],
    { before, isRelevant }: { readonly before: UpdateReport['recorded']; readonly isRelevant: boolean },
  ): Promise<void> {
    const known = new Set(
      before.record.generation === record.generation ? before.record.failed.map(({ osd }) => osd) : [],
    )
    const isReported = ({ osd }: { readonly osd: number }) =>
      isRelevant &&
      (osd === record.frozen?.osd || (reason === 'OsdUpdateFailed' && explanation.startsWith(`osd.${osd}:`)))
    const newFailures = record.failed.filter((failure) => !known.has(failure.osd) && !isReported(failure))
    if (newFailures.length === 0) return
    const named = newFailures.slice(0, mostNamed).map(({ osd, why }) => `osd.${osd}: ${why}`)
    const more = newFailures.length > named.length ? `; and ${newFailures.length - named.length} more` : ''
    const note = `${named.join('; ')}${more}`
    await this.#events.record(cluster, { type: 'Warning', reason: 'OsdGivenUp', note })
  }

  /** That checks are off, once; each OSD that is stopped against them; and what is left to do in Ceph. */
  async #reportOverrides(
    key: string,
    cluster: CephCluster,
    { record, checksOff }: UpdateReport['decision'],
    before: UpdateReport['recorded'],
  ): Promise<void> {
    const inForce = checksOff === undefined ? [] : [checksOff]
    for (const setting of this.#events.newOf(overridesOf(key), inForce)) {
      const note = `${setting} is set: ${overrideMeanings[setting as OverrideSetting]}; take it out of the CephCluster when the update is done`
      await this.#events.record(cluster, { type: 'Warning', reason: 'UpdateChecksOff', note }, foundNew)
    }
    const { overrides, release } = record
    if (release?.lag !== undefined && release.lag !== before.record.release?.lag) {
      await this.#events.record(cluster, { type: 'Warning', reason: 'OsdReleaseLags', note: release.lag }, foundNew)
    }
    if (overrides === undefined || !isOverrideNew(record, before.record)) return
    const note = `osd.${overrides.last.osd} is updated although the checks refuse it, by ${overrides.last.why}`
    await this.#events.record(cluster, { type: 'Warning', reason: 'UpdateChecksOverridden', note }, foundNew)
  }

  /** Each once, for as long as it lasts. */
  async #reportProblems(key: string, cluster: CephCluster, problems: readonly string[]): Promise<void> {
    const added = this.#events.newOf(problemsOf(key), problems)
    if (added.length === 0) return
    await this.#events.record(cluster, { type: 'Warning', reason: 'ObjectsUnusable', note: added.join('; ') }, foundNew)
  }
}

function overridesOf(key: string): string {
  return `${key} overrides`
}

function isOverrideNew({ overrides }: UpdateRecord, before: UpdateRecord): boolean {
  return overrides !== undefined && overrides.last.atMs !== before.overrides?.last.atMs
}

function problemsOf(key: string): string {
  return `${key} problems`
}

/** That it goes on is reported, not with which step. */
function stateOf(reason: string): string {
  return moving.includes(reason) ? 'moving' : reason
}

/** What began, goes on or ended, in figures; all else says itself why it is so. */
function noteOf(
  { reason, explanation, record, progress, start }: UpdateReport['decision'],
  before: UpdateReport['recorded'],
): string {
  if (reason === 'OsdsUpdating') {
    const left = progress.running.length + progress.waiting
    const first = start.length === 0 ? '' : `; osd ${idRanges(start)} first`
    const least = progress.lowerBound < progress.roundsLeft ? `, ${progress.lowerBound} at least` : ''
    const rounds = progress.roundsLeft === 0 ? '' : ` in about ${counted(progress.roundsLeft, 'round')}${least}`
    if (before.reason === undefined || over.includes(before.reason)) {
      return `the update starts: ${counted(left, 'OSD')}${rounds}${first}`
    }
    const thawed = before.record.frozen
    const isBack = thawed !== undefined && record.generation === before.record.generation
    return `the update continues${isBack ? `, osd.${thawed.osd} is back` : ''}: ${counted(left, 'OSD')} left${rounds}`
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
