import { isJsonObject, isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { AccessAttributes } from '../access/policy-rule.ts'
import { forbidden } from '../registry/api-errors.ts'
import type { ResourceCatalogue } from '../resource-definition.ts'
import type { UserInfo } from '../user-info.ts'
import type { Admission, AdmissionRequest } from './admission.ts'

export interface OwnerPermissionPorts {
  readonly catalogue: Pick<ResourceCatalogue, 'all'>
  isAllowed(user: UserInfo, attributes: AccessAttributes): boolean
}

/**
 * The admission plugin OwnerReferencesPermissionEnforcement, before the given admission: whoever changes the owners of an object
 * must be allowed to delete it, and whoever makes it hold up the deletion of an owner, to change that owner's finalizers.
 */
export function withOwnerPermissions(next: Admission, ports: OwnerPermissionPorts): Admission {
  return {
    mayMatch: (target) => isEnforced(target) || next.mayMatch(target),
    admit(request) {
      const why = isEnforced(request) ? refusalOf(request, ports) : undefined
      return why === undefined ? next.admit(request) : Promise.reject(forbidden(request.type, request.key.name, why))
    },
  }
}

function isEnforced({ operation, type, subresource }: Parameters<Admission['mayMatch']>[0]): boolean {
  const isPodStatus = type.group === '' && type.plural === 'pods' && subresource === 'status'
  return (operation === 'CREATE' || operation === 'UPDATE') && !isPodStatus
}

function refusalOf(request: AdmissionRequest, { catalogue, isAllowed }: OwnerPermissionPorts): string | undefined {
  const { operation, type, subresource, key, user } = request
  const owners = ownersOf(request.object)
  const before = ownersOf(request.oldObject)
  if (isSameJson(owners, before)) return undefined
  const target = { group: type.group, resource: type.plural, ...key, ...(subresource !== undefined && { subresource }) }
  if (operation === 'UPDATE' && !isAllowed(user, { verb: 'delete', ...target }))
    return "cannot set an ownerRef on a resource you can't delete: , <nil>"
  for (const { apiVersion, kind, name } of owners.filter((owner) => isBlocking(owner) && !wasBlocking(owner))) {
    const kinds = catalogue.all().filter((each) => apiVersionOf(each.type) === apiVersion && each.type.kind === kind)
    if (kinds.length === 0)
      return `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: no matches for kind "${kind}" in version "${apiVersion}"`
    for (const { type: owner } of kinds) {
      const { group, plural: resource, namespaced } = owner
      const where = namespaced && key.namespace !== undefined ? { namespace: key.namespace } : {}
      if (!isAllowed(user, { verb: 'update', group, resource, subresource: 'finalizers', name, ...where }))
        return "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>"
    }
  }
  return undefined

  function wasBlocking({ uid }: OwnerReference): boolean {
    return before.some((owner) => owner.uid === uid && isBlocking(owner))
  }
}

function isBlocking({ blockOwnerDeletion }: OwnerReference): boolean {
  return blockOwnerDeletion === true
}

function ownersOf(object: unknown): readonly OwnerReference[] {
  const metadata = isJsonObject(object) ? object['metadata'] : undefined
  const owners = isJsonObject(metadata) ? metadata['ownerReferences'] : undefined
  return Array.isArray(owners) ? (owners as unknown as readonly OwnerReference[]) : []
}
