import { isJsonObject, type Json } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { permissionsOf } from '@cofferdam/product/operator/controller-names.ts'
import type { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'

/** Questions, news, beats of the heart, and what is made anew under another name each time. */
const passing = new Set([
  'events',
  'leases',
  'pods',
  'replicas',
  'jobs',
  'tokenreviews',
  'subjectaccessreviews',
  'selfsubjectaccessreviews',
])

/** Every object of a kind that the operator may change, without what differs from run to run: moments, versions, numbers that only grow. */
export async function observeEndState(server: ApiServer): Promise<string[]> {
  const api = server.as(clusterAdmin)
  const lines: string[] = []
  for (const { group, resource } of changeable()) {
    const definition = server.catalogue.all().find(({ type }) => type.group === group && type.plural === resource)
    if (definition === undefined) continue
    const { items } = await api.list(definition.type)
    for (const object of items) lines.push(textOf(resource, object))
  }
  return lines.sort()
}

function changeable(): { group: string; resource: string }[] {
  const found = new Map<string, { group: string; resource: string }>()
  for (const { group, resource: path, verbs } of Object.values(permissionsOf).flat()) {
    const resource = path.split('/')[0] as string
    if (passing.has(resource) || verbs.every((verb) => ['get', 'list', 'watch'].includes(verb))) continue
    found.set(`${group}/${resource}`, { group, resource })
  }
  return [...found.values()]
}

function textOf(resource: string, object: KubeObject): string {
  const { metadata, ...rest } = object as KubeObject & { spec?: Json; status?: Json; data?: Json }
  const { namespace, name, labels = {}, annotations = {}, finalizers = [] } = metadata
  const status = isOurs(object) ? rest.status : undefined
  const kept = {
    labels,
    annotations,
    finalizers,
    spec: rest.spec,
    data: rest.data === undefined ? undefined : Object.keys(rest.data as object),
    status,
  }
  return `${resource} ${namespace ?? ''}/${name} ${JSON.stringify(kept, masked)}`
}

function isOurs({ apiVersion }: KubeObject): boolean {
  return apiVersion.startsWith('cofferdam.io/')
}

/**
 * Who was refused what and when, and which pods went: it says what happened, not how things are. A process that died before it heard of its
 * eviction cannot note it, and the pod is gone for the next one. Whether a request had to wait in the queue depends on how long nobody led.
 */
const remembered = new Set(['cofferdam.io/eviction-attempted', 'evictedPods', 'firstInQueueSince'])
/** A process that was not there says less of how it came; the reason beside the sentence is compared. */
const worded = new Set(['message'])
const growing = /epoch|generation|resourceversion|uid|requestid|seconds|cabundle|bootid|since|ticket|sequence|nonce/i
const moment = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g
/** The name of a process, by which whoever held something is known. */
const processName = /\boperator-[a-z0-9]{8}\b/g
const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** Objects in the order of their keys; what only counts or dates is left out. */
function masked(key: string, value: unknown): unknown {
  if (remembered.has(key) || worded.has(key)) return undefined
  // Whether our own cordon was seen to be lifted is written after it was; the node itself is compared, and the mark on it decides.
  if (key === 'cordonedBy' && typeof value === 'string') return value.replace(/, lifted$/, '')
  if (growing.test(key) && (typeof value === 'number' || typeof value === 'string')) return '…'
  if (typeof value === 'string') return value.replace(moment, '…').replace(uid, '…').replace(processName, 'operator-…')
  if (!isJsonObject(value as Json)) return value
  const fields = value as Readonly<Record<string, Json>>
  // Whose cordon it was decides nothing once a request is over: a backup may be from before it was noted.
  const isOver = fields['phase'] === 'Completed'
  const counted = Object.entries(fields).filter(([field]) => !isOver || field !== 'cordonedBy')
  return Object.fromEntries(counted.sort(([a], [b]) => (a < b ? -1 : 1)))
}
