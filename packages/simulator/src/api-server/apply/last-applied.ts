import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { compareObjects } from './compare-objects.ts'
import type { FieldPlan } from './field-plan.ts'
import { difference } from './field-set.ts'
import type { FieldSet } from './field-set-builder.ts'
import { fieldsOfObject } from './fields-of-object.ts'

const annotation = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * The fields that client-side apply set and that still have the value it gave them. The same user who turns to
 * server-side apply may change these without a conflict.
 */
export function fieldsLastApplied(live: KubeObject, plan: FieldPlan): FieldSet | undefined {
  const configuration = parseConfiguration(live.metadata.annotations?.[annotation])
  if (configuration === undefined || configuration['apiVersion'] !== live.apiVersion) return undefined
  const changes = compareObjects(configuration, live as unknown as JsonObject, { plan })
  const fields = fieldsOfObject(configuration, plan)
  return difference(difference(fields, changes?.changed), changes?.removed)
}

function parseConfiguration(text: string | undefined): JsonObject | undefined {
  if (text === undefined || text === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The object whose annotation, if it has one, says what was applied now, so that client-side apply can take over again. */
export function withLastApplied(object: KubeObject, applied: JsonObject): KubeObject {
  const current = object.metadata.annotations?.[annotation]
  if (current === undefined || current === '') return object
  const text = `${JSON.stringify(sorted(withoutAnnotation(applied)))}\n`
  if (text === current) return object
  const annotations = { ...object.metadata.annotations, [annotation]: text }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

function withoutAnnotation(applied: JsonObject): JsonObject {
  const { metadata } = applied
  if (!isJsonObject(metadata) || !isJsonObject(metadata['annotations'])) return applied
  const { [annotation]: _, ...annotations } = metadata['annotations']
  return { ...applied, metadata: { ...metadata, annotations } }
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isJsonObject(value)) return value
  const fields = Object.entries(value).filter((field): field is [string, Json] => field[1] !== undefined)
  return Object.fromEntries(
    fields.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, field]) => [name, sorted(field)]),
  )
}
