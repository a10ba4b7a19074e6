import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'

/** Events are kept as core/v1 and also served as events.k8s.io/v1, where some fields have other names. */
const namesInEventsGroup: Readonly<Record<string, string>> = {
  involvedObject: 'regarding',
  message: 'note',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
  reportingComponent: 'reportingController',
}
const namesInCore = Object.fromEntries(Object.entries(namesInEventsGroup).map(([core, events]) => [events, core]))

export function eventAsServed(event: KubeObject, apiVersion: string): KubeObject {
  return renamed(event, apiVersion, namesInEventsGroup)
}

export function eventAsStored(event: KubeObject, apiVersion: string): KubeObject {
  return renamed(event, apiVersion, namesInCore)
}

function renamed(event: KubeObject, apiVersion: string, names: Readonly<Record<string, string>>): KubeObject {
  const fields = Object.entries(event).map(([field, value]) => [names[field] ?? field, value])
  return { ...(Object.fromEntries(fields) as KubeObject), apiVersion }
}
