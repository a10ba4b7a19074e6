import type { Event } from '@cofferdam/kubernetes/api/core.ts'
import { fieldText } from '@cofferdam/kubernetes/api/field-selector.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'

export type FieldReaders = Readonly<Record<string, (object: KubeObject) => string>>

const orElse = (path: string, absent: string) => (object: KubeObject) => fieldText(object, path) || absent

/** Selectors see the zero value of a field that an object leaves out, and a few fields under another name. */
const readersByResource: Readonly<Record<string, FieldReaders>> = {
  nodes: { 'spec.unschedulable': orElse('spec.unschedulable', 'false') },
  pods: { 'spec.hostNetwork': orElse('spec.hostNetwork', 'false') },
  replicationcontrollers: { 'status.replicas': orElse('status.replicas', '0') },
  'apps/replicasets': { 'status.replicas': orElse('status.replicas', '0') },
  'batch/jobs': { 'status.successful': orElse('status.succeeded', '0') },
  events: { source: (event) => (event as Event).source?.component || ((event as Event).reportingComponent ?? '') },
}

export function fieldReadersOf(storageKey: string): FieldReaders {
  return readersByResource[storageKey] ?? {}
}
