import type { Reason } from '../../shared/reasons.ts'
import type { UpdateHost, UpdateOverview, UpdatePart, UpdatePlan } from './osd-update-overview.ts'
import type { Tone } from './tone.ts'

/** The update of one cluster's OSDs, put together again. */
export interface UpdateViewModel {
  readonly overview: UpdateOverview
  readonly plan: UpdatePlan | undefined
  /** Neighbours together. */
  readonly hosts: readonly UpdateHost[]
}

export function viewUpdates(parts: readonly UpdatePart[]): UpdateViewModel[] {
  const plans = new Map<string, UpdatePlan>()
  const hosts = new Map<string, UpdateHost[]>()
  for (const part of parts) {
    if (part.piece === 'plan') plans.set(part.of, part)
    if (part.piece !== 'host') continue
    const others = hosts.get(part.of)
    if (others === undefined) hosts.set(part.of, [part])
    else others.push(part)
  }
  return overviewsOf(parts)
    .toSorted((a, b) => collator.compare(a.of, b.of))
    .map((overview) => ({
      overview,
      plan: plans.get(overview.of),
      hosts: (hosts.get(overview.of) ?? []).sort(compareHosts),
    }))
}

export interface UpdateHeadline {
  readonly tone: Tone
  readonly says: string
  /** Why it does not go on, or not for all. */
  readonly warning?: { readonly reason: string; readonly explanation: string }
}

const going: readonly string[] = ['OsdsUpdating', 'OsdsUpToDate', ''] satisfies (Reason | '')[]
const alarming: readonly string[] = [
  'ChecksDisagree',
  'OsdUpdateFailed',
  'OsdUpdateFrozen',
  'UpdateRecordUnreadable',
] satisfies Reason[]

/** Nothing is left to do. OSDs that somebody wants left alone do not count. */
export function isOver({ reason, running, waiting, failed }: UpdateOverview): boolean {
  return reason === ('OsdsUpToDate' satisfies Reason) && running + waiting + failed === 0
}

export function headUpdate(overview: UpdateOverview): UpdateHeadline {
  const { cluster, total, done, running, waiting, blocked, failed, reason, explanation } = overview
  if (isOver(overview)) {
    const left = blocked === 0 ? '' : `, and ${blocked} left alone`
    const all = blocked === 0 ? `All ${total}` : `${done} of ${total}`
    return { tone: 'calm', says: `${all} OSDs of ${cluster} are up to date${left}` }
  }
  const counts = [
    `${done} of ${total} done`,
    ...(running === 0 ? [] : [`${running} restarting`]),
    ...(waiting === 0 ? [] : [waiting === 1 ? '1 waits' : `${waiting} wait`]),
    ...(blocked === 0 ? [] : [`${blocked} blocked`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
  ]
  const says = [`OSD update of ${cluster}: ${counts.join(', ')}`, ...timeText(overview), ...roundsText(overview)].join(
    ' · ',
  )
  const isAlarming = alarming.includes(reason) || failed > 0
  const tone = isAlarming ? 'alarm' : 'busy'
  return going.includes(reason) ? { tone, says } : { tone, says, warning: { reason, explanation } }
}

function timeText({ secondsLeft }: UpdateOverview): string[] {
  return secondsLeft === undefined ? [] : [`about ${durationText(secondsLeft)} left`]
}

function roundsText({ roundsLeft, lowerBound }: UpdateOverview): string[] {
  if (roundsLeft === 0) return []
  const rounds = roundsLeft === 1 ? '1 round left' : `${roundsLeft} rounds left`
  if (lowerBound === 0 || lowerBound > roundsLeft || roundsLeft === 1) return [rounds]
  return [lowerBound === roundsLeft ? `${rounds}, the fewest possible` : `${rounds} (fewest possible ${lowerBound})`]
}

/** `40s`, `12m`, `1h 30m` */
function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))}s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 90) return `${minutes}m`
  const rest = minutes % 60
  return rest === 0 ? `${minutes / 60}h` : `${Math.floor(minutes / 60)}h ${rest}m`
}

/** For the headline of the page. */
export function updateSentences(
  parts: readonly UpdatePart[],
): { readonly isAlarming: boolean; readonly says: string }[] {
  return overviewsOf(parts)
    .filter((overview) => !isOver(overview))
    .map((overview) => {
      const { cluster, done, total, frozenBy, failed, overridden } = overview
      const { tone, warning } = headUpdate(overview)
      const isAlarming = tone === 'alarm'
      if (frozenBy !== undefined) {
        return { isAlarming, says: `The OSD update of ${cluster} is frozen: osd.${frozenBy} did not come back.` }
      }
      if (failed > 0) {
        return { isAlarming, says: `${failed} ${failed === 1 ? 'OSD' : 'OSDs'} of ${cluster} could not be updated.` }
      }
      if (overridden !== undefined) {
        const says = `osd.${overridden.osd} of ${cluster} is being updated although the checks refuse it, by ${overridden.why}.`
        return { isAlarming: true, says }
      }
      if (warning !== undefined) return { isAlarming, says: `The OSD update of ${cluster} ${inWords(warning.reason)}.` }
      return { isAlarming, says: `OSDs of ${cluster} are being updated, ${done} of ${total} done.` }
    })
}

const words: Readonly<Partial<Record<Reason, string>>> = {
  CephDisagrees: 'waits: the ok-to-stop check of Ceph refuses it',
  CephUnhealthy: 'waits: Ceph is not healthy',
  ChecksDisagree: 'is stopped: its two checks disagree',
  ClusterDeleted: 'has ended: the CephCluster is being deleted',
  DrainFirst: 'waits: a drain is first in the queue',
  MonsNotUpdated: 'waits until mons and mgrs are updated',
  OsdUpdateBlocked: 'waits until another OSD can stop',
  OsdUpdateOff: 'is switched off',
  OsdUpdateSoaks: 'observes the updated OSDs for a while',
  PgsNotClean: 'waits until all data is clean',
  SafetyUnknown: 'waits: what is safe is not known now',
  StorageKeyHeld: 'waits: the storage is held by another request',
  UpdateRecordUnreadable: 'is stopped: its record cannot be read',
}

function inWords(reason: string): string {
  return words[reason as Reason] ?? `waits: ${reason}`
}

function overviewsOf(parts: readonly UpdatePart[]): UpdateOverview[] {
  return parts.filter((part) => part.piece === 'board')
}

const collator = new Intl.Collator('en', { numeric: true })

function compareHosts(a: UpdateHost, b: UpdateHost): number {
  return collator.compare(a.within.join('/'), b.within.join('/')) || collator.compare(a.host, b.host)
}
