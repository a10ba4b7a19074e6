import { ageText } from '../../../shared/age-text.ts'
import { listText } from '../../../shared/list-text.ts'
import type { Paint } from '../../../shared/paint.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { idRanges } from '../domain/id-ranges.ts'
import type { FailedOsd, GrowthSummary, UpdateSummary } from './summarize-update.ts'

const linesShown = 3

/** What the update of one cluster's OSDs is about, then a line for each thing that is worth one. */
export function updateStatusLines(summary: UpdateSummary, now: string, paint: Paint): string[] {
  const mode = modes[summary.mode ?? 'own'] ?? ''
  return [`${summary.cluster}${mode}: ${updateHeadline(summary, now, paint)}`, ...updateDetails(summary, now, paint)]
}

const modes: Readonly<Partial<Record<NonNullable<UpdateSummary['mode']>, string>>> = {
  plan: ' (beside Rook: restarts only on request)',
  pace: ' (paced: Rook updates OSDs round by round)',
}

/** How far it is, and why not farther. */
export function updateHeadline(summary: UpdateSummary, now: string, paint: Paint): string {
  const { reason, explanation, frozen } = summary
  if (reason === undefined || reason === 'OsdsUpToDate' || reason === 'OsdUpdateOff')
    return restText(summary, now, paint)
  const colour = (colours as Readonly<Record<string, 'red'>>)[reason] ?? 'cyan'
  const isMoving = movingReasons.includes(reason)
  const age = ageText(frozen?.since ?? (isMoving ? summary.startedAt : undefined), now)
  const text = isMoving ? paceText(summary) : explanation
  return `${paint(colour, reason)}${age === undefined ? '' : ` for ${age}`}: ${text}`
}

export function updateDetails(summary: UpdateSummary, now: string, paint: Paint): string[] {
  const { failed, frozen, growth } = summary
  return [
    ...(summary.isAttended === false && isUnderWay(summary) ? ['this may be old: no operator is running'] : []),
    ...checkLines(summary, now, paint),
    ...(isUnderWay(summary) ? countLines(summary, paint) : []),
    ...paceLines(summary, paint),
    ...(frozen === undefined ? [] : [`what to do: ${frozen.wayOut}`]),
    ...failedLines(
      failed.filter(({ osd }) => osd !== frozen?.osd),
      { now, paint },
    ),
    ...blockedLines(summary, paint),
    ...(summary.releaseLag === undefined ? [] : [`${paint('yellow', 'to do in Ceph:')} ${summary.releaseLag}`]),
    ...(growth === undefined ? [] : growthLines(growth, paint)),
  ]
}

function checkLines({ checksOff, overridden }: UpdateSummary, now: string, paint: Paint): string[] {
  const warning = paint('red', 'checks overridden:')
  const age = ageText(overridden?.since, now)
  return [
    ...(checksOff === undefined ? [] : [`${warning} ${checksOff.setting} is set: ${checksOff.meaning}`]),
    ...(overridden === undefined
      ? []
      : [`${warning} osd.${overridden.osd}${age === undefined ? '' : `, ${age} ago`}, by ${overridden.why}`]),
  ]
}

/** Shown by figures, and with an estimate. */
const movingReasons: readonly string[] = ['OsdsUpdating'] satisfies readonly Reason[]
const colours = { OsdUpdateFrozen: 'red', OsdUpdateFailed: 'red', UpdateRecordUnreadable: 'red' }

/** When nothing is under way. */
function restText(summary: UpdateSummary, now: string, paint: Paint): string {
  const { reason, osds, outdated = 0, progress, updated, startedAt, endedAt } = summary
  if (summary.mode === 'off') return 'updates of OSDs are switched off'
  if (outdated > 0) {
    const few = outdated === 1 ? '1 OSD needs an update' : `${outdated} OSDs need an update`
    const nobody = summary.isAttended === false ? ', and no operator is running' : '; the update has not started yet'
    return `${paint('yellow', few)}${nobody}`
  }
  if (reason === undefined && osds === undefined) return 'nothing is on record about an update'
  const ended = ageText(endedAt, now)
  const took = startedAt === undefined || endedAt === undefined ? undefined : ageText(startedAt, endedAt)
  const isRecent = updated > 0 && ended !== undefined && took !== undefined
  const endedText = isRecent ? `; ${updated} were updated in ${took}, ${ended} ago` : ''
  if (progress !== undefined && progress.total > progress.done) return `${summary.explanation}${endedText}`
  const all = progress?.total ?? osds
  return `${paint('green', `all ${all === undefined ? '' : `${all} `}OSDs up to date`)}${endedText}`
}

function isUnderWay({ reason, progress }: UpdateSummary): boolean {
  return (
    reason !== 'OsdsUpToDate' &&
    progress !== undefined &&
    progress.running.length + progress.waiting + progress.blocked > 0
  )
}

function paceText({ progress, secondsLeft, explanation }: UpdateSummary): string {
  if (progress === undefined) return explanation
  const left = secondsLeft === undefined ? '' : `, about ${ageOf(secondsLeft)} left`
  return `${progress.done} of ${progress.total} OSDs done${left}`
}

function countLines({ progress, reason = '' }: UpdateSummary, paint: Paint): string[] {
  if (progress === undefined) return []
  const { total, done, running, waiting, roundsLeft, lowerBound } = progress
  const least = roundsLeft > lowerBound && lowerBound > 0 ? `, ${lowerBound} at least` : ''
  const rounds = roundsLeft === 0 ? '' : `; about ${roundsLeft === 1 ? '1 round' : `${roundsLeft} rounds`} left${least}`
  return [
    ...(movingReasons.includes(reason) ? [] : [`${done} of ${total} OSDs done`]),
    ...(running.length === 0 ? [] : [`restarting: ${paint('cyan', `osd ${idRanges(running)}`)}`]),
    ...(waiting === 0 ? [] : [`${waiting === 1 ? '1 waits' : `${waiting} wait`}${rounds}`]),
  ]
}

function paceLines({ pace, progress, osds }: UpdateSummary, paint: Paint): string[] {
  if (pace === undefined || (pace.open.length === 0 && pace.pending === 0)) return []
  const all = pace.rounds + (progress?.roundsLeft ?? 0)
  const held = (osds ?? progress?.total ?? 0) - pace.open.length
  if (pace.open.length === 0) return [`no round is open; ${held} OSDs held, ${pace.pending} not opened to Rook yet`]
  const open = paint('cyan', `osd ${idRanges(pace.open)}`)
  return [`round ${pace.rounds} of about ${all}: ${open} open to Rook, waiting for ${pace.waitsFor}; ${held} held`]
}

/** Where each is held for its own reason. */
const listing: readonly (string | undefined)[] = [
  'OsdUpdateBlocked',
  'OsdUpdateFailed',
  'OsdsUpToDate',
] satisfies readonly Reason[]

/** Most of those that something else holds, or others that are restarting, go when that is over: they are only counted. */
function blockedLines({ progress, blocked, reason }: UpdateSummary, paint: Paint): string[] {
  const count = progress?.blocked ?? blocked.length
  if (count === 0) return []
  if (!listing.includes(reason) || (progress?.running.length ?? 0) > 0)
    return [`${paint('yellow', 'blocked:')} ${count}`]
  const more = Math.max(count - blocked.length, 0)
  return shortened(
    blocked.map(({ osd, why }) => `${paint('yellow', 'blocked:')} osd.${osd}: ${why}`),
    more,
  )
}

function failedLines(
  failed: readonly FailedOsd[],
  { now, paint }: { readonly now: string; readonly paint: Paint },
): string[] {
  const lines = failed.map(({ osd, why, since }) => {
    const age = ageText(since, now)
    return `${paint('red', 'failed:')} osd.${osd}${age === undefined ? '' : `, ${age} ago`}: ${why}`
  })
  const [first] = failed
  return first === undefined ? [] : [...shortened(lines), `what to do: ${first.wayOut}`]
}

function growthLines({ awaited, failed, unusable, adding }: GrowthSummary, paint: Paint): string[] {
  return [
    ...(awaited.length === 0 ? [] : [`searching for new disks on ${listText(awaited)}`]),
    ...(adding.length === 0 ? [] : [`being added: ${paint('cyan', `osd ${idRanges(adding)}`)}`]),
    ...shortened(failed.map(({ place, why }) => `${paint('red', 'no OSDs from')} ${place}: ${why}`)),
    ...shortened(unusable.map(({ place, why }) => `${paint('yellow', 'not searched:')} ${place}: ${why}`)),
  ]
}

function shortened(lines: readonly string[], unlisted = 0): string[] {
  const shown = lines.slice(0, linesShown)
  const more = lines.length - shown.length + unlisted
  return more <= 0
    ? shown
    : [...shown, `… and ${more} more; -o json shows ${unlisted > 0 ? `${lines.length} of them` : 'all'}`]
}

/** `12m`, as ages are shown. */
function ageOf(seconds: number): string {
  return ageText(new Date(0).toISOString(), new Date(seconds * 1_000).toISOString()) ?? `${seconds}s`
}
