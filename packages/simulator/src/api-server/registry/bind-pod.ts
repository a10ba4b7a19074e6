import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { Condition, KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyText, type ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { invalidObject } from '../schema/field-error.ts'
import { conflict, notFound, staleWrite } from './api-errors.ts'
import { trackWrite } from './prepare-write.ts'
import { admit, bucketOf, type Registry, type WriteRequest } from './registry.ts'

interface Binding {
  readonly node: string
  readonly uid: string | undefined
  readonly annotations: Readonly<Record<string, string>>
}

const subresource = 'binding'

/** Assigns a pod to a node, once and for all. */
export async function bindPod(
  registry: Registry,
  request: WriteRequest,
  key: ObjectKey,
  body: JsonObject,
): Promise<JsonObject> {
  const { definition, user, dryRun } = request
  const binding = parseBinding(key, body)
  const target = { operation: 'CREATE', type: definition.type, subresource } as const
  if (request.admission.mayMatch(target)) {
    const kind = { group: '', version: 'v1', kind: 'Binding' }
    await admit(request, { ...target, key, kind, object: body, user, dryRun })
  }
  const bucket = bucketOf(registry, definition)
  const stored = bucket.get(keyText(key)) as Pod | undefined
  if (stored === undefined) throw notFound(definition.type, key.name)
  requireBindable(stored, binding)
  const bound = trackWrite(registry, { ...request, subresource }, boundPod(registry, stored, binding), stored)
  if (!dryRun) {
    const written = bucket.put(keyText(key), bound, stored)
    if (written === undefined) throw staleWrite(definition.type, key.name)
  }
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }
}

function parseBinding(key: ObjectKey, body: JsonObject): Binding {
  const target = isJsonObject(body['target']) ? body['target'] : {}
  const metadata = isJsonObject(body['metadata']) ? (body['metadata'] as unknown as KubeObject['metadata']) : undefined
  const { kind, name } = target
  const invalid = (error: Parameters<typeof invalidObject>[1][number]) =>
    invalidObject({ group: '', kind: 'Binding', name: key.name }, [error])
  if (kind !== undefined && kind !== '' && kind !== 'Node') {
    throw invalid({
      kind: 'NotSupported',
      field: 'target.kind',
      value: kind,
      detail: 'supported values: "Node", "<empty>"',
    })
  }
  if (typeof name !== 'string' || name === '') throw invalid({ kind: 'Required', field: 'target.name', detail: '' })
  return { node: name, uid: metadata?.uid, annotations: metadata?.annotations ?? {} }
}

function requireBindable(pod: Pod, binding: Binding): void {
  const { name, uid, deletionTimestamp } = pod.metadata
  const refuse = (why: string) => conflict({ group: '', plural: 'pods/binding' }, name, why)
  if (binding.uid && binding.uid !== uid) {
    throw refuse(`Precondition failed: UID in precondition: ${binding.uid}, UID in object meta: ${uid}`)
  }
  if (deletionTimestamp !== undefined) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`)
  if (pod.spec.nodeName) throw refuse(`pod ${name} is already assigned to node "${pod.spec.nodeName}"`)
  const { schedulingGates } = pod.spec as { schedulingGates?: readonly unknown[] }
  if (schedulingGates !== undefined && schedulingGates.length > 0) {
    throw refuse(`pod ${name} has non-empty .spec.schedulingGates`)
  }
}

function boundPod(registry: Registry, pod: Pod, { node, annotations }: Binding): Pod {
  const hasAnnotations = Object.keys(annotations).length > 0
  return {
    ...pod,
    metadata: hasAnnotations
      ? { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...annotations } }
      : pod.metadata,
    spec: { ...pod.spec, nodeName: node },
    status: { ...pod.status, conditions: scheduledConditions(pod, timestamp(registry.clock)) },
  }
}

function scheduledConditions(pod: Pod, now: string): readonly Condition[] {
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled')
  return [...others, { type: 'PodScheduled', status: 'True', lastTransitionTime: now }]
}
