import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { ResourceDefinition } from '../resource-definition.ts'
import { eventAsServed, eventAsStored } from './event-versions.ts'

/** A stored object as the asked version shows it. */
export function asServed(definition: ResourceDefinition, object: KubeObject): KubeObject {
  const apiVersion = servedVersion(definition)
  if (object.apiVersion === apiVersion) return object
  if (definition.type.kind === 'Event' && definition.origin === 'builtin') return eventAsServed(object, apiVersion)
  return { ...object, apiVersion }
}

/** The form in which an object of any served version is kept. */
export function asStored(definition: ResourceDefinition, object: KubeObject): KubeObject {
  const apiVersion = storedVersion(definition)
  if (object.apiVersion === apiVersion) return object
  if (definition.type.kind === 'Event' && definition.origin === 'builtin') return eventAsStored(object, apiVersion)
  return { ...object, apiVersion }
}

export function servedVersion({ type }: ResourceDefinition): string {
  return apiVersionOf(type)
}

function storedVersion(definition: ResourceDefinition): string {
  const slash = definition.storageKey.indexOf('/')
  return slash < 0 ? definition.storageVersion : `${definition.storageKey.slice(0, slash)}/${definition.storageVersion}`
}
