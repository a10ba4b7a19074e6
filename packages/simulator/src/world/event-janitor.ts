import type { Event } from '@cofferdam/kubernetes/api/core.ts'
import { events } from '@cofferdam/kubernetes/api/resources.ts'
import { type Actor, type ActorPorts, deleteExactly, openTools } from './actor.ts'

export interface EventJanitorOptions {
  /** How long an event stays after it was last recorded. */
  readonly ttlSeconds?: number
  /** More than this many and the oldest go early. */
  readonly maxEvents?: number
  readonly periodSeconds?: number
}

/** Takes away old Events, as the real store's lease on them does. */
export function startEventJanitor(ports: ActorPorts & EventJanitorOptions): Actor {
  const { ttlSeconds = 3_600, maxEvents = 50_000, periodSeconds = 60 } = ports
  const tools = openTools('event-janitor', { ...ports, events: { recorder: () => silent, stop() {} } })
  const view = tools.views.of(events)
  let sweeping = false

  async function sweep(): Promise<void> {
    const oldest = tools.clock.now() - ttlSeconds * 1_000
    const kept: Event[] = []
    for (const event of Array.from(view.values())) {
      if (recordedAt(event) <= oldest) await deleteExactly(tools, events, event)
      else kept.push(event)
    }
    const excess = kept.length - maxEvents
    if (excess <= 0) return
    kept.sort((a, b) => recordedAt(a) - recordedAt(b))
    for (const event of kept.slice(0, excess)) await deleteExactly(tools, events, event)
  }

  tools.every(periodSeconds * 1_000, () => {
    if (sweeping || !view.isReady) return
    sweeping = true
    sweep()
      .catch((error: unknown) => tools.fail('events', error))
      .finally(() => {
        sweeping = false
      })
  })
  return { stop: tools.stop }
}

const silent = { record() {} }

function recordedAt(event: Event): number {
  return Date.parse(event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? '')
}
