import type { DisruptionRecord, DisruptionSnapshot, RequestView } from './snapshot.ts'

/**
 * How long a request has been first in the queue, kept on its record: since when it is, and the sum of earlier times. Only then could
 * it have acquired its locks, so only that time counts towards the fallback.
 */
export type QueueTime = Pick<DisruptionRecord, 'firstInQueueSinceMs' | 'firstInQueueMs'>

/** What of a view the times depend on. */
interface Timed {
  readonly nowMs: number
  readonly record: QueueTime
  readonly request: Pick<RequestView, 'createdMs' | 'fallbackAfterMs'>
  readonly snapshot: Pick<DisruptionSnapshot, 'settings'>
}

export function queueTime({ record, nowMs }: Pick<Timed, 'record' | 'nowMs'>, isFirst: boolean): QueueTime {
  const { firstInQueueSinceMs: sinceMs, firstInQueueMs } = record
  if (isFirst === (sinceMs !== undefined)) return { firstInQueueSinceMs: sinceMs, firstInQueueMs }
  if (sinceMs === undefined) return { firstInQueueSinceMs: wholeSeconds(nowMs), firstInQueueMs }
  const spentMs = Math.max(0, nowMs - sinceMs)
  return { firstInQueueSinceMs: undefined, firstInQueueMs: firstInQueueMs + wholeSeconds(spentMs) }
}

/** When the locks are given up if they are not acquired; undefined while others are first. */
export function fallbackAtMs({ record, request, snapshot }: Timed): number | undefined {
  const { firstInQueueSinceMs: sinceMs, firstInQueueMs } = record
  if (sinceMs === undefined) return undefined
  return sinceMs + (request.fallbackAfterMs ?? snapshot.settings.fallbackAfterMs) - firstInQueueMs
}

export function isFallbackTime(view: Timed): boolean {
  const atMs = fallbackAtMs(view)
  return atMs !== undefined && view.nowMs >= atMs
}

/** A record from before this was kept has been first for as long as it exists. */
export function isPatienceOver(view: Timed): boolean {
  const { request, snapshot, nowMs } = view
  const withoutRecordMs = request.createdMs + (request.fallbackAfterMs ?? snapshot.settings.fallbackAfterMs)
  return nowMs >= (fallbackAtMs(view) ?? withoutRecordMs)
}

/** As exact as what is written down. */
function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000
}
