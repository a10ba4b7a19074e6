import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Event } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { events } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'

export interface EventRecorder {
  record(about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void
}

export interface EventSink {
  recorder(component: string, host?: string): EventRecorder
  stop(): void
}

export interface EventSinkOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  /** Which events are written at all. Large simulations leave out what nobody reads. */
  readonly keep?: 'all' | 'warnings' | 'none'
}

/** As client-go: so many at once about one object, then one in five minutes. */
const burst = 25
const refillMs = 300_000
const rememberedEvents = 4_096
const longestBacklog = 10_000

interface RecordedEvent {
  readonly namespace: string
  readonly name: string
  count: number
}

interface Allowance {
  tokens: number
  at: number
}

/**
 * Writes Events, the same text about the same object as one Event with a count.
 *
 * Guarantees: never throws and never makes the caller wait; events are lost rather than piled up without end.
 */
export function createEventSink({ api, clock, random, keep = 'all' }: EventSinkOptions): EventSink {
  const recorded = new Map<string, RecordedEvent>()
  const allowances = new Map<string, Allowance>()
  let backlog = 0
  let last: Promise<void> = Promise.resolve()
  let stopped = false

  function mayRecord(subject: string): boolean {
    const now = clock.now()
    const allowance = allowances.get(subject) ?? { tokens: burst, at: now }
    const tokens = Math.min(burst, allowance.tokens + (now - allowance.at) / refillMs)
    const may = tokens >= 1
    remember(allowances, subject, { tokens: may ? tokens - 1 : tokens, at: now })
    return may
  }

  async function write(id: string, event: Event): Promise<void> {
    const known = recorded.get(id)
    const fieldManager = event.source?.component ?? 'events'
    if (known !== undefined) {
      known.count += 1
      const body = { count: known.count, lastTimestamp: event.lastTimestamp ?? null }
      try {
        await api.patch(events, known, { type: 'merge', body }, { fieldManager })
        return
      } catch (error) {
        if (!hasReason(error, 'NotFound')) throw error
      }
    }
    remember(recorded, id, { namespace: event.metadata.namespace as string, name: event.metadata.name, count: 1 })
    await api.create(events, event, { fieldManager })
  }

  function enqueue(id: string, event: Event): void {
    if (backlog >= longestBacklog) return
    backlog += 1
    last = last.then(async () => {
      backlog -= 1
      if (stopped) return
      // An event that cannot be written, in a namespace that goes for instance, is not worth more than the try.
      await write(id, event).catch(() => recorded.delete(id))
    })
  }

  return {
    recorder: (component, host) => ({
      record(about, type, reason, message) {
        if (stopped || keep === 'none' || (keep === 'warnings' && type === 'Normal')) return
        const source = host === undefined ? { component } : { component, host }
        const subject = JSON.stringify([component, host, about.kind, about.metadata.uid])
        if (!mayRecord(subject)) return
        const id = JSON.stringify([subject, type, reason, message])
        enqueue(id, buildEvent({ about, type, reason, message, source, clock, random: random.stream(component) }))
      },
    }),
    stop() {
      stopped = true
    },
  }
}

function buildEvent(parts: {
  about: KubeObject
  type: 'Normal' | 'Warning'
  reason: string
  message: string
  source: { component: string; host?: string }
  clock: Clock
  random: Random
}): Event {
  const { about, type, reason, message, source, clock, random } = parts
  const { name, namespace = 'default', uid, resourceVersion } = about.metadata
  const now = timestamp(clock)
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.${hex(random)}${hex(random)}`, namespace },
    involvedObject: {
      apiVersion: about.apiVersion,
      kind: about.kind,
      ...(about.metadata.namespace === undefined ? {} : { namespace }),
      name,
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    type,
    reason,
    message,
    source,
    reportingComponent: source.component,
    reportingInstance: source.host ?? '',
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  }
}

function hex(random: Random): string {
  return ((random.next() * 2 ** 32) >>> 0).toString(16).padStart(8, '0')
}

/** Remembers the latest; the oldest make room. */
function remember<V>(memory: Map<string, V>, key: string, value: V): void {
  memory.delete(key)
  memory.set(key, value)
  if (memory.size > rememberedEvents) memory.delete(memory.keys().next().value as string)
}
