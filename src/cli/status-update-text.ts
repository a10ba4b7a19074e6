import type { FailedOsd, GrowthSummary, UpdateSummary } from '../domain/explain/summarize-update.ts'
import { idRanges } from '../domain/osd-update/id-ranges.ts'
import type { Reason } from '../domain/reasons.ts'
import { ageText } from './age.ts'
import { listText } from './explain-text.ts'
import type { Paint } from './terminal.ts'

const linesShown = 3

/** What the update of one cluster's OSDs is about, then a line for each thing that is worth one. */
export function updateStatusLines(summary: UpdateSummary, now: string, paint: Paint): string[] {
  const { progress, failed, frozen, growth } = summary
  const isGrowing = growth !== undefined && growth.awaited.length + growth.adding.length + growth.failed.length > 0
  return [
    headline(summary, now, paint),
    ...(summary.isAttended === false && isUnderWay(summary) ? ['this may be old: no operator is running'] : []),
    ...(progress === undefined || !isUnderWay(summary) ? [] : countLines(summary, paint)),
    ...(frozen === undefined ? [] : [`what to do: ${frozen.wayOut}`]),
    ...failedLines(
      failed.filter(({ osd }) => osd !== frozen?.osd),
      { now, paint },
    ),
    ...blockedLines(summary, paint),
    ...(isGrowing ? growthLines(growth, paint) : []),
  ]
}

const toldByCounts: readonly (string | undefined)[] = ['OsdsUpdating'] satisfies readonly Reason[]
const colours = { OsdsUpToDate: 'green', OsdUpdateFrozen: 'red', OsdUpdateFailed: 'red', UpdateRecordUnreadable: 'red' }

function headline(summary: UpdateSummary, now: string, paint: Paint): string {
  const { cluster, reason, explanation, frozen } = summary
  const mode = summary.mode === 'beside-rook' ? ' (beside Rook: restarts only on request)' : ''
  if (reason === undefined || reason === 'OsdsUpToDate' || reason === 'OsdUpdateOff') {
    return `${cluster}${mode}: ${restText(summary, now, paint)}`
  }
  const colour = (colours as Readonly<Record<string, 'red'>>)[reason] ?? 'cyan'
  const age = ageText(frozen?.since ?? (isUnderWay(summary) ? summary.startedAt : undefined), now)
  const told = toldByCounts.includes(reason) ? paceText(summary) : explanation
  return `${cluster}${mode}: ${paint(colour, reason)}${age === undefined ? '' : ` for ${age}`}: ${told}`
}

/** When nothing is under way. */
function restText(summary: UpdateSummary, now: string, paint: Paint): string {
  const { reason, outdated = 0, progress, updated, startedAt, endedAt } = summary
  if (summary.mode === 'off') return 'updates of OSDs are switched off'
  if (outdated > 0) {
    const few = outdated === 1 ? '1 OSD differs' : `${outdated} OSDs differ`
    const nobody = summary.isAttended === false ? ', and no operator is running' : '; nothing has begun yet'
    return `${paint('yellow', few)} from what the CephCluster says${nobody}`
  }
  if (reason === undefined) return 'no update is on record'
  const ended = ageText(endedAt, now)
  const took = startedAt === undefined || endedAt === undefined ? undefined : ageText(startedAt, endedAt)
  const left = progress === undefined ? 0 : progress.total - progress.done
  const all = progress === undefined ? 'all OSDs' : `all ${progress.total} OSDs`
  const news =
    updated === 0 || ended === undefined || took === undefined
      ? ''
      : `; ${updated} were updated in ${took}, ${ended} ago`
  return left > 0 ? `${summary.explanation}${news}` : `${paint('green', `${all} up to date`)}${news}`
}

function isUnderWay({ reason, progress }: UpdateSummary): boolean {
  return reason !== 'OsdsUpToDate' && progress !== undefined && progress.running.length + progress.waiting > 0
}

function paceText({ progress, secondsLeft, explanation }: UpdateSummary): string {
  if (progress === undefined) return explanation
  const left = secondsLeft === undefined ? '' : `, about ${ageOf(secondsLeft)} left`
  return `${progress.done} of ${progress.total} OSDs done${left}`
}

function countLines({ progress, reason, secondsLeft }: UpdateSummary, paint: Paint): string[] {
  if (progress === undefined) return []
  const { total, done, running, waiting, roundsLeft, lowerBound } = progress
  const isTold = toldByCounts.includes(reason)
  const pace = isTold || secondsLeft === undefined ? '' : `, about ${ageOf(secondsLeft)} at the pace so far`
  const rounds =
    roundsLeft === 0
      ? ''
      : `; about ${roundsLeft === 1 ? '1 round' : `${roundsLeft} rounds`} left${roundsLeft > lowerBound && lowerBound > 0 ? `, ${lowerBound} at least` : ''}`
  return [
    ...(isTold ? [] : [`${done} of ${total} OSDs done${pace}`]),
    ...(running.length === 0 ? [] : [`on the way: ${paint('cyan', `osd ${idRanges(running)}`)}`]),
    ...(waiting === 0 ? [] : [`${waiting === 1 ? '1 waits' : `${waiting} wait`}${rounds}`]),
  ]
}

/** While others are on their way most of the list only waits for them, which is no news. */
function blockedLines({ progress, blocked }: UpdateSummary, paint: Paint): string[] {
  const count = progress?.blocked ?? blocked.length
  if (count === 0) return []
  if (progress !== undefined && progress.running.length > 0) return [`${paint('yellow', 'blocked:')} ${count}`]
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

function growthLines({ awaited, failed, adding }: GrowthSummary, paint: Paint): string[] {
  return [
    ...(awaited.length === 0 ? [] : [`new disks are looked for on ${listText(awaited)}`]),
    ...(adding.length === 0 ? [] : [`being added: ${paint('cyan', `osd ${idRanges(adding)}`)}`]),
    ...shortened(failed.map(({ place, why }) => `${paint('red', 'no OSDs from')} ${place}: ${why}`)),
  ]
}

function shortened(lines: readonly string[], unlisted = 0): string[] {
  const shown = lines.slice(0, linesShown)
  const more = lines.length - shown.length + unlisted
  return more <= 0
    ? shown
    : [...shown, `… and ${more} more; -o json shows ${unlisted > 0 ? `${lines.length} of them` : 'all'}`]
}

/** `12m`, as ages are told. */
function ageOf(seconds: number): string {
  return ageText(new Date(0).toISOString(), new Date(seconds * 1_000).toISOString()) ?? `${seconds}s`
}
