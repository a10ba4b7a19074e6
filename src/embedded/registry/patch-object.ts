import { ApiError } from '../../api/api-error.ts'
import { isJsonObject, type JsonObject } from '../../api/json.ts'
import type { KubeObject } from '../../api/kube-object.ts'
import type { ObjectKey } from '../../api/resource-type.ts'
import type { Patch } from '../../kube/kube-api.ts'
import { timestamp } from '../../runtime/clock.ts'
import { serverSideApply } from '../apply/server-side-apply.ts'
import { applyJsonPatch } from '../patch/json-patch.ts'
import { applyMergePatch } from '../patch/merge-patch.ts'
import { applyStrategicMergePatch } from '../patch/strategic-merge-patch.ts'
import { invalidObject } from '../schema/field-error.ts'
import type { Schema } from '../schema/schema.ts'
import { badRequest, notFound } from './api-errors.ts'
import { insertObject, requireOpenNamespace } from './create-object.ts'
import { decodeObject, dropUnknownFields } from './decode-object.ts'
import { prepareCreate } from './prepare-write.ts'
import type { Registry, WriteRequest } from './registry.ts'
import { rewriteObject } from './rewrite-object.ts'
import { servedVersion } from './served-version.ts'

export async function patchObject(
  registry: Registry,
  request: WriteRequest,
  key: ObjectKey,
  patch: Patch,
): Promise<KubeObject> {
  if (patch.type === 'apply') return applyObject(registry, request, key, patch)
  const { schema, origin } = request.definition
  const isCustom = origin === 'custom'
  const change = (current: KubeObject) => patched(current as KubeObject & JsonObject, patch, { schema, isCustom })
  return rewriteObject(registry, request, { key, change: (current) => requireSameName(change(current), current) })
}

type PlainPatch = Exclude<Patch, { type: 'apply' }>

export function patched<T extends JsonObject>(
  current: T,
  patch: PlainPatch,
  { schema, isCustom }: { readonly schema: Schema; readonly isCustom: boolean },
): T {
  switch (patch.type) {
    case 'json':
      if (!Array.isArray(patch.body)) throw badRequest('json: cannot unmarshal the patch: a JSON patch is a list')
      return applyJsonPatch(current, patch.body) as T
    case 'merge':
      return applyMergePatch(current, requireObject(patch.body)) as T
    case 'strategic':
      if (isCustom) throw strategicNotKnown()
      return applyStrategicMergePatch(current, requireObject(patch.body), schema) as T
  }
}

function requireObject(body: unknown): JsonObject {
  if (isJsonObject(body)) return body
  throw badRequest('json: cannot unmarshal the patch: it must be an object')
}

function requireSameName(changed: KubeObject, current: KubeObject): KubeObject {
  const name = changed.metadata?.name
  if (name === current.metadata.name) return changed
  throw badRequest(
    `the name of the object (${name ?? ''}) does not match the name on the URL (${current.metadata.name})`,
  )
}

function strategicNotKnown(): ApiError {
  return new ApiError(
    'UnsupportedMediaType',
    'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
  )
}

async function applyObject(
  registry: Registry,
  request: WriteRequest,
  key: ObjectKey,
  patch: Extract<Patch, { type: 'apply' }>,
): Promise<KubeObject> {
  requireApplicable(request, key, patch.body)
  const applied = dropUnknownFields(request, patch.body)
  const { definition, fieldManager, subresource } = request
  const merge = (live: KubeObject | undefined) =>
    serverSideApply({
      live,
      applied,
      schema: definition.schema,
      manager: fieldManager,
      force: patch.force === true,
      apiVersion: servedVersion(definition),
      time: timestamp(registry.clock),
      ...(subresource === undefined ? {} : { subresource }),
      ...(definition.hasStatus && subresource !== 'status' ? { ignored: ['status'] } : {}),
    })
  const create = async () => {
    if (subresource !== undefined) throw notFound(definition.type, key.name)
    const decoded = inNamespace(decodeObject({ ...request, fieldValidation: 'Ignore' }, merge(undefined)), key)
    requireOpenNamespace(registry, request, decoded.metadata)
    const created = await insertObject(registry, request, prepareCreate(registry, request, decoded))
    request.onCreated?.()
    return created
  }
  return rewriteObject(registry, request, { key, change: merge, isTracked: true, otherwise: create })
}

function inNamespace(object: KubeObject, { namespace }: ObjectKey): KubeObject {
  if (namespace === undefined || object.metadata.namespace !== undefined) return object
  return { ...object, metadata: { ...object.metadata, namespace } }
}

function requireApplicable({ fieldManager }: WriteRequest, key: ObjectKey, { metadata }: JsonObject): void {
  if (fieldManager === '') {
    throw invalidObject({ group: 'meta.k8s.io', kind: 'PatchOptions', name: '' }, [
      { kind: 'Required', field: 'fieldManager', detail: 'is required for apply patch' },
    ])
  }
  const name = isJsonObject(metadata) ? metadata['name'] : undefined
  if (name === key.name) return
  if (typeof name !== 'string' || name === '') throw badRequest('metadata.name is required in what is applied')
  throw badRequest(`the name of the object (${name}) does not match the name on the URL (${key.name})`)
}
