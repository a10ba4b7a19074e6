import type { ChosenStarts } from './chosen-starts.ts'
import type { UpdateProgress } from './decision.ts'
import type { OsdUpdateSnapshot, UpdateRecord } from './snapshot.ts'
import type { SortedOsds } from './sort-osds.ts'

export function progressOf(given: {
  readonly snapshot: OsdUpdateSnapshot
  readonly sorted: SortedOsds
  readonly running: readonly number[]
  readonly chosen: ChosenStarts
  readonly record: UpdateRecord
}): UpdateProgress {
  const { snapshot, sorted, chosen, record } = given
  const started = new Set(chosen.start)
  const running = [...new Set([...given.running, ...chosen.start])].sort((a, b) => a - b)
  const away = new Set(sorted.away.map(({ id }) => id))
  const failed = new Set(record.failed.map(({ osd }) => osd))
  const done = snapshot.osds.filter(
    ({ id, needsUpdate, problem }) => !needsUpdate && problem === undefined && !away.has(id) && !failed.has(id),
  ).length
  const toStart = sorted.pending.filter(({ id }) => !started.has(id)).length
  // What waits for restarting OSDs is not blocked: it goes when they are back.
  const blockedNow = running.length === 0 ? chosen.blocked.length : 0
  const waiting = toStart - Math.min(blockedNow, toStart)
  return {
    total: snapshot.osds.length,
    done,
    running,
    waiting,
    blocked: sorted.leftOut.length + blockedNow,
    failed: failed.size,
    roundsLeft: chosen.roundsLeft,
    lowerBound: chosen.lowerBound,
    secondsLeft: secondsLeftOf(record, snapshot.nowMs, waiting + running.length),
  }
}

export function secondsLeftOf({ startedMs, done }: UpdateRecord, nowMs: number, left: number): number | undefined {
  if (startedMs === undefined || done === 0) return undefined
  return Math.round((Math.max(nowMs - startedMs, 0) / 1000 / done) * left)
}
