import type { Event } from '@cofferdam/kubernetes/api/core.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ObjectStore } from '../store/object-store.ts'

const keptMs = 60 * 60 * 1000
const pollEveryMs = 60 * 1000

/** Forgets events an hour after they were last seen, as the real server does: they would pile up for ever otherwise. */
export function startEventExpiry({ store, clock }: { store: ObjectStore; clock: Clock }): { stop(): void } {
  const poll = () => {
    cancel = clock.after(pollEveryMs, poll)
    const bucket = store.bucket('events')
    for (const [key, event] of bucket.present().entries()) {
      if (lastSeenMs(event as Event) + keptMs <= clock.now()) bucket.remove(key, event)
    }
  }
  let cancel = clock.after(pollEveryMs, poll)
  return { stop: () => cancel() }
}

function lastSeenMs({ metadata, eventTime, firstTimestamp, lastTimestamp, ...rest }: Event): number {
  const { series } = rest as { series?: { lastObservedTime?: string } }
  const times = [metadata.creationTimestamp, eventTime, firstTimestamp, lastTimestamp, series?.lastObservedTime]
  return Math.max(0, ...times.map((time) => Date.parse(time ?? '')).filter((ms) => !Number.isNaN(ms)))
}
