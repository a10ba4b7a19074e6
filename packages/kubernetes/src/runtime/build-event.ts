import type { Event } from '../api/core.ts'
import type { KubeObject } from '../api/kube-object.ts'
import { type Clock, timestamp } from './clock.ts'
import { type Random, randomSuffix } from './random.ts'

/** What an Event is about. */
export type EventSubject = Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>

/** What an Event says. */
export interface EventText<R extends string = string> {
  readonly type: 'Normal' | 'Warning'
  readonly reason: R
  readonly note: string
}

export interface EventSource {
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
  /** Who says it. */
  readonly component: string
  /** Takes out of a note what would do harm where it is printed: kubectl prints it as it is. */
  readonly harmless?: (note: string) => string
}

/** What the API server takes of a message; longer ones are refused. */
const longestNote = 1_024
const longestName = 253

/** An Event that `kubectl describe` shows beside the object it is about. */
export function buildEvent(about: EventSubject, { type, reason, note }: EventText, source: EventSource): Event {
  const { clock, random, component, harmless = (text) => text } = source
  const { name, namespace = 'default', uid, resourceVersion } = about.metadata
  const now = timestamp(clock)
  const message = harmless(note)
  const suffix = `.${clock.now().toString(16)}${randomSuffix(random.stream('events'), 5)}`
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name.slice(0, longestName - suffix.length)}${suffix}`, namespace },
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
    message: message.length <= longestNote ? message : `${message.slice(0, longestNote - 1)}…`,
    source: { component },
    reportingComponent: component,
    reportingInstance: '',
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  }
}
