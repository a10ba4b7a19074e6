import type { KubeObject } from './kube-object.ts'

/** One kind of object as the API serves it. The type parameter is what its objects look like. */
export interface ResourceType<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  /** As in the path: `poddisruptionbudgets`. */
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
  /** Never present at run time: it carries T for inference. */
  readonly objectType?: T
}

export interface ObjectKey {
  readonly namespace?: string
  readonly name: string
}

export function apiVersionOf({ group, version }: { group: string; version: string }): string {
  return group === '' ? version : `${group}/${version}`
}

/** The path of a collection, or of one object when a name is given. */
export function resourcePath(type: ResourceType, key: Partial<ObjectKey> = {}, subresource?: string): string {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`
  const scope = type.namespaced && key.namespace !== undefined ? `/namespaces/${encodeURIComponent(key.namespace)}` : ''
  const name = key.name !== undefined ? `/${encodeURIComponent(key.name)}` : ''
  return `${root}${scope}/${type.plural}${name}${subresource === undefined ? '' : `/${subresource}`}`
}

export function keyOf(object: KubeObject): ObjectKey {
  const { namespace, name } = object.metadata
  return namespace === undefined ? { name } : { namespace, name }
}

/** `namespace/name`, or the bare name of a cluster-scoped object; also the order in which lists are served. */
export function keyText({ namespace, name }: ObjectKey): string {
  // Joined, it is one text in memory; a template would keep a tree of three, and there are as many keys as objects.
  return namespace === undefined ? name : [namespace, name].join('/')
}
