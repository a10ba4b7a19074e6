import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { Patch } from '@cofferdam/kubernetes/client/kube-api.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { serverSideApply } from '../apply/server-side-apply.ts'
import { applyJsonPatch } from '../patch/json-patch.ts'
import { applyMergePatch } from '../patch/merge-patch.ts'
import { applyStrategicMergePatch } from '../patch/strategic-merge-patch.ts'
import type { ResourceDefinition } from '../resource-definition.ts'
import { invalidObject } from '../schema/field-error.ts'
import type { Schema } from '../schema/schema.ts'
import { badRequest, conflict, notFound } from './api-errors.ts'
import { insertObject, requireOpenNamespace } from './create-object.ts'
import { decodeObject } from './decode-object.ts'
import { decodeReplacement, requireCustomKind } from './decode-replacement.ts'
import { prepareCreate } from './prepare-write.ts'
import type { Registry, WriteRequest } from './registry.ts'
import { rewriteObject } from './rewrite-object.ts'
import { servedVersion } from './served-version.ts'
import { closedMetadata } from './status-metadata.ts'

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
  return rewriteObject(registry, request, {
    key,
    change: (current) => inNamespace(requireName(change(current), key), key),
    decode: (changed, current) => decodePatched(request, changed, current),
  })
}

type PlainPatch = Exclude<Patch, { type: 'apply' }>

export function patched<T extends JsonObject>(
  current: T,
  patch: PlainPatch,
  { schema, isCustom }: { readonly schema: Schema; readonly isCustom: boolean },
): T {
  switch (patch.type) {
    case 'json':
      return applyJsonPatch(current, patch.body) as T
    case 'merge':
      return applyMergePatch(current, requireObject(patch.body)) as T
    case 'strategic':
      if (isCustom) throw strategicNotKnown()
      // The patch is merged into an object whose kind is settled: what the patch says of that does not count.
      return withKindOf(current, applyStrategicMergePatch(current, requireObject(patch.body), schema) as T)
  }
}

function withKindOf<T extends JsonObject>(current: T, changed: T): T {
  const { apiVersion, kind } = current
  return changed['apiVersion'] === apiVersion && changed['kind'] === kind ? changed : { ...changed, apiVersion, kind }
}

/** What a patch makes of an object is the fault of the patch, not of the request. */
function decodePatched(request: WriteRequest, changed: KubeObject, current: KubeObject): KubeObject {
  try {
    return requireCustomKind(request, decodeReplacement(request, changed, current))
  } catch (error) {
    if (!hasReason(error, 'BadRequest')) throw error
    const detail = error.message.replace(/^.* cannot be handled as an? \w+: /, '')
    throw invalidObject({ group: '', kind: '', name: '' }, [
      { kind: 'Invalid', field: 'patch', value: JSON.stringify(changed), detail },
    ])
  }
}

function requireObject(body: unknown): JsonObject {
  if (isJsonObject(body)) return body
  throw badRequest('json: cannot unmarshal the patch: it must be an object')
}

function requireName(changed: KubeObject, key: ObjectKey): KubeObject {
  const name = changed.metadata?.name
  if (name === key.name) return changed
  throw badRequest(
    name
      ? `the name of the object (${name}) does not match the name on the URL (${key.name})`
      : `the name of the object (${key.name} based on URL) was undeterminable: name must be provided`,
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
  requireManager(request)
  const { definition, fieldManager, subresource } = request
  let leavesNulls = false
  const merge = (live: KubeObject | undefined) => {
    const merged = serverSideApply({
      live,
      applied: patch.body,
      schema: definition.schema,
      manager: fieldManager,
      force: patch.force === true,
      apiVersion: servedVersion(definition),
      time: timestamp(registry.clock),
      ...(subresource === undefined ? {} : { subresource }),
      ...ignoredFields(request),
      closedMetadata: subresource === 'status' ? closedMetadata(definition) : [],
      blank: blankObjects[definition.storageKey],
    })
    leavesNulls = definition.origin === 'custom' && merged.leavesNulls
    return requireName(withSentIdentity(merged.object, patch.body), key)
  }
  const create = async () => {
    if (subresource !== undefined) throw notFound(definition.type, key.name)
    const decoded = inNamespace(decodeObject({ ...request, fieldValidation: 'Ignore' }, merge(undefined)), key)
    requireNoUid(definition, decoded)
    requireOpenNamespace(registry, request, decoded.metadata)
    const created = await insertObject(registry, request, prepareCreate(registry, request, decoded))
    request.onCreated?.()
    return created
  }
  return rewriteObject(registry, request, {
    key,
    change: merge,
    isTracked: true,
    leavesNulls: () => leavesNulls,
    otherwise: create,
  })
}

/** Counts that the real server writes also when they are zero. */
const blankObjects: Readonly<Record<string, JsonObject>> = {
  'apps/replicasets': { status: { replicas: 0 } },
  'policy/poddisruptionbudgets': {
    status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  },
}

/** What this endpoint does not write, and nobody therefore owns by applying it here. */
function ignoredFields({ definition, subresource }: WriteRequest): { ignored?: readonly string[] } {
  if (subresource !== 'status') return definition.hasStatus ? { ignored: ['status'] } : {}
  return { ignored: definition.origin === 'builtin' ? ['spec'] : ['metadata', 'spec'] }
}

/** Who names an object and a version means those also where nothing else of the metadata counts. */
function withSentIdentity(merged: KubeObject, { metadata }: JsonObject): KubeObject {
  if (!isJsonObject(metadata)) return merged
  const { name = merged.metadata.name, resourceVersion = merged.metadata.resourceVersion } = metadata
  if (typeof name !== 'string' || typeof resourceVersion !== 'string') return merged
  if (name === merged.metadata.name && resourceVersion === merged.metadata.resourceVersion) return merged
  return { ...merged, metadata: { ...merged.metadata, name, resourceVersion } }
}

function inNamespace(object: KubeObject, { namespace }: ObjectKey): KubeObject {
  const sent = object.metadata.namespace
  if (sent === namespace) return object
  if (namespace === undefined) {
    const { namespace: _, ...metadata } = object.metadata
    return { ...object, metadata }
  }
  if (sent) throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  return { ...object, metadata: { ...object.metadata, namespace } }
}

function requireManager({ fieldManager }: WriteRequest): void {
  if (fieldManager !== '') return
  throw invalidObject({ group: 'meta.k8s.io', kind: 'PatchOptions', name: '' }, [
    { kind: 'Required', field: 'fieldManager', detail: 'is required for apply patch' },
  ])
}

/** Who names a uid means an object that is there. */
function requireNoUid({ type }: ResourceDefinition, { metadata }: KubeObject): void {
  const { name, uid } = metadata
  if (!uid) return
  throw conflict(type, name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`)
}
