import type { Event, ObjectReference } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { TableColumn } from '../resource-definition.ts'
import { column, wideColumn } from './column.ts'
import { timeSince } from './human-duration.ts'

interface CoreEvent extends Event {
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string }
}

/** The same event as `events.k8s.io/v1` names its fields. */
interface RenamedEvent extends KubeObject {
  readonly regarding?: ObjectReference
  readonly note?: string
  readonly reportingController?: string
  readonly deprecatedCount?: number
  readonly deprecatedFirstTimestamp?: string
  readonly deprecatedLastTimestamp?: string
  readonly deprecatedSource?: { readonly component?: string; readonly host?: string }
}

type AnyEvent = Partial<CoreEvent> & RenamedEvent

export const eventColumns: readonly TableColumn[] = [
  column<AnyEvent>('Last Seen', lastSeen),
  column<AnyEvent>('Type', ({ type }) => type ?? ''),
  column<AnyEvent>('Reason', ({ reason }) => reason ?? ''),
  column<AnyEvent>('Object', objectText),
  wideColumn<AnyEvent>('Subobject', (event) => subjectOf(event).fieldPath ?? ''),
  wideColumn<AnyEvent>('Source', sourceText),
  column<AnyEvent>('Message', ({ message, note }) => (message ?? note ?? '').trim()),
  wideColumn<AnyEvent>('First Seen', firstSeen),
  wideColumn<AnyEvent>('Count', (event) => event.series?.count ?? (event.count || event.deprecatedCount || 1)),
  column<AnyEvent>('Name', ({ metadata }) => metadata.name, { type: 'string', format: 'name', priority: 1 }),
]

function subjectOf(event: AnyEvent): ObjectReference {
  return event.involvedObject ?? event.regarding ?? {}
}

function objectText(event: AnyEvent): string {
  const { kind = '', name } = subjectOf(event)
  return name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase()
}

function sourceText(event: AnyEvent): string {
  const source = event.source ?? event.deprecatedSource
  const component = source?.component || event.reportingComponent || event.reportingController || ''
  const instance = source?.host || event.reportingInstance
  return instance ? `${component}, ${instance}` : component
}

function firstSeen(event: AnyEvent, nowMs: number): string {
  return timeSince(event.firstTimestamp ?? event.deprecatedFirstTimestamp ?? event.eventTime, nowMs)
}

function lastSeen(event: AnyEvent, nowMs: number): string {
  if (event.series !== undefined) return timeSince(event.series.lastObservedTime, nowMs)
  const last = event.lastTimestamp ?? event.deprecatedLastTimestamp
  return last ? timeSince(last, nowMs) : firstSeen(event, nowMs)
}
