import type { KubeObject } from './kube-object.ts'

/** The server's own account of who wrote which field is often larger than the object. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
