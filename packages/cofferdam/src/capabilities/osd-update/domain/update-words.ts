import type { Observed } from '../../../shared/observed.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { ChosenStarts } from './chosen-starts.ts'
import type { UpdateRecord } from './snapshot.ts'
import type { SortedOsds } from './sort-osds.ts'
import type { Gate } from './update-gates.ts'

/** What is said of a decision: what hinders most comes first. */
export function updateWords(given: {
  readonly gate: Gate | undefined
  readonly chosen: ChosenStarts
  readonly sorted: SortedOsds
  readonly running: readonly number[]
  readonly record: UpdateRecord
  readonly nowMs: number
  /** What Ceph says of its placement groups; undefined: it was not asked. */
  readonly isClean: Observed<boolean> | undefined
}): { readonly reason: Reason; readonly explanation: string } {
  const { gate, chosen, sorted, running, record } = given
  const needed = sorted.pending.length + sorted.again.length
  const awaiting = sorted.away.filter(({ id, awaitsRook }) => awaitsRook === true && running.includes(id)).length
  const [failure] = record.failed
  const isStopped = gate !== undefined && (stopping.includes(gate.reason) || gate.isSaidAtRest === true)
  if (
    gate !== undefined &&
    chosen.start.length === 0 &&
    (needed > 0 || running.length > 0 || record.frozen !== undefined || isStopped)
  ) {
    return { reason: gate.reason, explanation: gate.explanation + finishing(running.length - awaiting, awaiting) }
  }
  if (chosen.disagreement !== undefined) {
    const explanation = `the plan would let OSDs stop, and the second check refuses: ${chosen.disagreement}; please report this`
    return { reason: 'ChecksDisagree', explanation }
  }
  if (chosen.cephDisagrees !== undefined) return { reason: 'CephDisagrees', explanation: chosen.cephDisagrees }
  if (chosen.silence !== undefined) {
    return {
      reason: 'SafetyUnknown',
      explanation: `nothing starts without Ceph's ok-to-upgrade answer: ${chosen.silence}`,
    }
  }
  if (chosen.doubt !== undefined) {
    return {
      reason: 'OsdUpdateBlocked',
      explanation: `Ceph's ok-to-upgrade answer cannot be checked yet: ${chosen.doubt}`,
    }
  }
  if (chosen.ask !== undefined) {
    return { reason: 'OsdsUpdating', explanation: `Ceph has to choose which of ${osdCount(needed)} start now` }
  }
  if (chosen.override !== undefined) {
    const { osd, by, harm } = chosen.override
    const explanation = `osd.${osd} starts alone although the checks refuse it, because ${by} is set: ${harm}; ${needed - chosen.start.length} wait`
    return { reason: 'OsdsUpdating', explanation }
  }
  if (chosen.start.length > 0 || running.length > 0) {
    const explanation =
      awaiting > 0
        ? `${osdCount(awaiting)} open to Rook's next pass, ${running.length - awaiting} restarting, ${needed} wait`
        : `${osdCount(chosen.start.length)} start now, ${running.length} are restarting, ${needed - chosen.start.length} wait`
    return { reason: 'OsdsUpdating', explanation }
  }
  if (needed > 0 && chosen.waits !== undefined) {
    const hindrance = chosen.blocked[0] && `osd.${chosen.blocked[0].osd}: ${chosen.blocked[0].why}; `
    return {
      reason: 'OsdUpdateBlocked',
      explanation: `${osdCount(needed)} to update, ${hindrance ?? ''}${chosen.waits}`,
    }
  }
  if (needed > 0) {
    const why = chosen.blocked[0] && ` (osd.${chosen.blocked[0].osd}: ${chosen.blocked[0].why})`
    return noneStops(needed, why ?? '', isBetweenRounds(given))
  }
  if (failure !== undefined) {
    const others = record.failed.length > 1 ? ` (and ${record.failed.length - 1} more)` : ''
    return { reason: 'OsdUpdateFailed', explanation: `osd.${failure.osd}: ${failure.why}${others}` }
  }
  const left = sorted.leftOut.length
  const explanation = left === 0 ? 'no OSD needs an update' : `no OSD needs an update but ${osdCount(left)} left alone`
  return { reason: 'OsdsUpToDate', explanation }
}

function finishing(restarting: number, awaiting: number): string {
  const may = restarting === 0 ? '' : `; ${osdCount(restarting)} already restarting may finish`
  return awaiting === 0 ? may : `${may}; ${osdCount(awaiting)} open to Rook`
}

/** So long after a round its placement groups may still be getting their copies back, and nothing is wrong. */
const betweenRoundsMs = 60_000

function isBetweenRounds({
  record: { startedMs, lastEndedMs },
  nowMs,
  isClean,
}: {
  readonly record: UpdateRecord
  readonly nowMs: number
  readonly isClean: Observed<boolean> | undefined
}): boolean {
  return (
    !(isClean?.known === true && isClean.value) &&
    startedMs !== undefined &&
    lastEndedMs !== undefined &&
    lastEndedMs >= startedMs &&
    nowMs - lastEndedMs < betweenRoundsMs
  )
}

/** @param why in brackets, with a space before it; '' where nothing is known */
function noneStops(
  needed: number,
  why: string,
  isBetween: boolean,
): { readonly reason: Reason; readonly explanation: string } {
  return isBetween
    ? { reason: 'OsdsUpdating', explanation: `the next round is being prepared, ${osdCount(needed)} to update${why}` }
    : { reason: 'OsdUpdateBlocked', explanation: `${osdCount(needed)} to update, none can stop now${why}` }
}

const stopping: readonly Reason[] = ['ClusterDeleted', 'OwnershipContested', 'UpdateRecordUnreadable']

export function osdCount(count: number): string {
  return count === 1 ? '1 OSD' : `${count} OSDs`
}
