import type { Event } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Random, randomSuffix } from '@cofferdam/kubernetes/runtime/random.ts'
import { harmlessText } from '../shared/harmless-text.ts'

export interface News {
  readonly about: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly note: string
}

const component = 'cofferdam'
/** What the API server takes of a message; longer ones are refused. */
const longestNote = 1_024
const longestName = 253

/** An Event that `kubectl describe` shows beside the object it is about. */
export function buildEvent(
  { about, type, reason, note: told }: News,
  { clock, random }: { clock: Clock; random: Random },
): Event {
  const { name, namespace = 'default', uid, resourceVersion } = about.metadata
  const now = timestamp(clock)
  // kubectl prints it as it is.
  const note = harmlessText(told)
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
    message: note.length <= longestNote ? note : `${note.slice(0, longestNote - 1)}…`,
    source: { component },
    reportingComponent: component,
    reportingInstance: '',
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  }
}
