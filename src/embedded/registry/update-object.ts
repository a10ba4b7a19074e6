import type { KubeObject } from '../../api/kube-object.ts'
import { keyOf } from '../../api/resource-type.ts'
import type { ResourceDefinition } from '../resource-definition.ts'
import { invalidObject } from '../schema/field-error.ts'
import { badRequest } from './api-errors.ts'
import { createObject } from './create-object.ts'
import type { Registry, WriteRequest } from './registry.ts'
import { rewriteObject } from './rewrite-object.ts'

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

export function updateObject(registry: Registry, request: WriteRequest, sent: KubeObject): Promise<KubeObject> {
  if (!sent.metadata?.name) throw badRequest('name must be provided')
  const mayCreate = request.subresource === undefined && createdByUpdate.has(request.definition.storageKey)
  return rewriteObject(registry, request, {
    key: keyOf(sent),
    change: () => replacement(request, sent),
    ...(mayCreate ? { otherwise: () => createByUpdate(registry, request, sent) } : {}),
  })
}

async function createByUpdate(registry: Registry, request: WriteRequest, sent: KubeObject): Promise<KubeObject> {
  // A version does not hinder who creates by PUT, as it hinders who creates by POST.
  const { resourceVersion: _, ...metadata } = sent.metadata
  const created = await createObject(registry, request, { ...sent, metadata })
  request.onCreated?.()
  return created
}

/** @throws ApiError 422 where the kind is never replaced blindly */
function replacement({ definition }: WriteRequest, sent: KubeObject): KubeObject {
  if (needsVersion(definition) && !sent.metadata.resourceVersion) {
    const { group, plural } = definition.type
    throw invalidObject({ group, kind: plural, name: sent.metadata.name }, [
      { kind: 'Invalid', field: 'metadata.resourceVersion', value: 0, detail: 'must be specified for an update' },
    ])
  }
  return sent
}

function needsVersion({ origin, storageKey }: ResourceDefinition): boolean {
  return origin === 'custom' || replacedByVersionOnly.has(storageKey)
}
