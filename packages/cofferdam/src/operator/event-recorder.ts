import type { EventSubject, EventText } from '@cofferdam/kubernetes/runtime/build-event.ts'
import { EventRecorder, eventWriter } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import { harmlessText } from '../shared/harmless-text.ts'
import type { Reason } from '../shared/reasons.ts'
import type { ViewPorts } from './informer-ports.ts'
import { errorText } from './log.ts'
import type { Metrics } from './metrics.ts'

/** As whom Cofferdam records Events. */
export const eventVoice = { component: 'cofferdam', harmless: harmlessText }

/** Records Events of the operator: each is logged too, and one that is refused is counted. */
export function createEventRecorder(ports: ViewPorts & { readonly metrics: Metrics }): EventRecorder<Reason> {
  const { clock, log, metrics } = ports
  return new EventRecorder<Reason>({
    clock,
    write: eventWriter({ ...ports, ...eventVoice }),
    onRecord: (about, { type, reason, note }) =>
      log[type === 'Warning' ? 'warn' : 'info']({ object: objectName(about), reason }, note),
    onRefused(about, { reason }: EventText, error) {
      metrics.countRefusedEvent(reason)
      log.warn({ object: objectName(about), reason, error: errorText(error) }, 'an event could not be written')
    },
  })
}

function objectName({ kind, metadata: { namespace, name } }: EventSubject): string {
  return `${kind.toLowerCase()}/${namespace === undefined ? '' : `${namespace}/`}${name}`
}
