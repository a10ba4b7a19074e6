import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { ResourceDefinition } from '../resource-definition.ts'
import { invalidObject } from '../schema/field-error.ts'
import { badRequest, conflict } from './api-errors.ts'
import { createObject } from './create-object.ts'
import { decodeReplacement, requireCustomKind } from './decode-replacement.ts'
import { bucketOf, type Registry, type WriteRequest } from './registry.ts'
import { requireReadableVersion, rewriteObject } from './rewrite-object.ts'
import { asServed } from './served-version.ts'

/** Kinds that the real server also creates by PUT. */
const createdByUpdate = new Set([
  'endpoints',
  'events',
  'limitranges',
  'services',
  'coordination.k8s.io/leases',
  'rbac.authorization.k8s.io/clusterrolebindings',
  'rbac.authorization.k8s.io/clusterroles',
  'rbac.authorization.k8s.io/rolebindings',
  'rbac.authorization.k8s.io/roles',
])

/** Built-in kinds that, like all custom ones, are only replaced by who says which version is replaced. */
const replacedByVersionOnly = new Set([
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
  'apiextensions.k8s.io/customresourcedefinitions',
  'coordination.k8s.io/leases',
  'policy/poddisruptionbudgets',
  'storage.k8s.io/csidrivers',
  'storage.k8s.io/csinodes',
  'storage.k8s.io/volumeattachments',
])

export async function updateObject(registry: Registry, request: WriteRequest, sent: KubeObject): Promise<KubeObject> {
  if (!sent.metadata?.name) throw badRequest('name must be provided')
  const { definition } = request
  const key = keyOf(sent)
  const mayCreate = request.subresource === undefined && createdByUpdate.has(definition.storageKey)
  if (mayCreate && bucketOf(registry, definition).get(keyText(key)) === undefined) {
    decodeReplacement(request, sent)
    return createByUpdate(registry, { ...request, fieldValidation: 'Ignore' }, sent)
  }
  // What cannot be read is refused before anything is looked up, and unknown fields are warned of whatever comes of the rest.
  const stored = bucketOf(registry, definition).get(keyText(key))
  const decoded = decodeReplacement(request, sent, stored && asServed(definition, stored))
  return rewriteObject(registry, request, {
    key,
    ...(mayCreate ? { otherwise: () => createByUpdate(registry, request, sent) } : {}),
    change: (current) => replacement(request, decoded, current),
    decode: (changed) => requireCustomKind(request, changed),
  })
}

async function createByUpdate(registry: Registry, request: WriteRequest, sent: KubeObject): Promise<KubeObject> {
  requireSameUid(request.definition, sent)
  // A version does not hinder who creates by PUT, as it hinders who creates by POST.
  const { resourceVersion, ...metadata } = sent.metadata
  if (resourceVersion) requireReadableVersion(resourceVersion)
  const created = await createObject(registry, request, { ...sent, metadata }, { keepsDeletion: true })
  request.onCreated?.()
  // What is only tried is answered as it was sent.
  if (!request.dryRun || !resourceVersion) return created
  return { ...created, metadata: { ...created.metadata, resourceVersion } }
}

/** @throws ApiError 422 where the kind is never replaced blindly, 409 where another object is meant */
function replacement({ definition }: WriteRequest, sent: KubeObject, current: KubeObject): KubeObject {
  requireSameUid(definition, sent, current)
  if (needsVersion(definition) && (sent.metadata.resourceVersion ?? '0') === '0') {
    const { group, plural } = definition.type
    throw invalidObject({ group, kind: plural, name: sent.metadata.name }, [
      { kind: 'Invalid', field: 'metadata.resourceVersion', value: 0, detail: 'must be specified for an update' },
    ])
  }
  return sent
}

/** Who names a uid means that object, not one that took its name, and none that is yet to be made. */
function requireSameUid(
  { type, storageKey, origin }: ResourceDefinition,
  sent: KubeObject,
  current?: KubeObject,
): void {
  const uid = current?.metadata.uid ?? ''
  if (!sent.metadata.uid || sent.metadata.uid === uid) return
  const key = `/registry/${origin === 'builtin' ? type.plural : storageKey}/${keyText(keyOf(sent))}`
  const why = `Precondition failed: UID in precondition: ${sent.metadata.uid}, UID in object meta: ${uid}`
  const error = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`
  throw conflict(type, sent.metadata.name, error)
}

function needsVersion({ origin, storageKey }: ResourceDefinition): boolean {
  return origin === 'custom' || replacedByVersionOnly.has(storageKey)
}
