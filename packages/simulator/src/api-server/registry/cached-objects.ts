import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** All objects under a storage key, or those of one namespace; the same array for as long as none of them changes. */
export function cachedObjects(store: ObjectStore, storageKey: string): (namespace?: string) => readonly KubeObject[] {
  let changes = -1
  const byNamespace = new Map<string, readonly KubeObject[]>()
  return (namespace = '') => {
    const bucket = store.bucket(storageKey)
    if (bucket.changes !== changes) {
      changes = bucket.changes
      byNamespace.clear()
    }
    const known = byNamespace.get(namespace)
    if (known !== undefined) return known
    const objects: KubeObject[] = []
    const prefix = namespace === '' ? '' : `${namespace}/`
    for (const [key, object] of bucket.entries(prefix)) {
      if (!key.startsWith(prefix)) break
      objects.push(object)
    }
    byNamespace.set(namespace, objects)
    return objects
  }
}
