import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'

/**
 * What Cofferdam leaves on objects of one kind, and how it is taken off for good. Every kind that a controller has the right to write
 * has one, or a sentence in `uninstall/without-trace.ts`.
 */
export interface Trace<T extends KubeObject = KubeObject> {
  readonly type: ResourceType<T>
  /** Where such objects can be; absent: anywhere. Secrets and ConfigMaps of others are not read. */
  readonly place?: TracePlace
  /** Of the objects: what is written in place of the whole. */
  readonly subresource?: string
  /** Labels, annotations and finalizers of Cofferdam's own that it takes off, or that go with the object. */
  readonly keys: readonly string[]
  /** Undefined: nothing of Cofferdam's is on it. Only what carries a mark of Cofferdam's is ever changed. */
  removal(object: T, around: TraceSurroundings): Removal | undefined
}

/** `ceph`: the namespaces of all Ceph clusters. */
export type TracePlace = 'ceph' | { readonly namespace?: string; readonly name?: string }

export interface TraceSurroundings {
  /** Namespaces of Ceph clusters whose budgets Rook manages: budgets stay there, without the mark. */
  readonly rooksNamespaces: ReadonlySet<string>
}

export type Removal =
  | { readonly verb: 'delete'; readonly says: string }
  | {
      readonly verb: 'patch'
      readonly says: string
      readonly patch: { readonly type: 'merge' | 'strategic'; readonly body: JsonObject }
    }

/** Lets traces of different kinds stand in one list. */
export function trace<T extends KubeObject>(one: Trace<T>): Trace {
  return one as unknown as Trace
}

/** Takes these labels and annotations off; undefined where the object has none of them. */
export function withoutKeys(
  { metadata }: KubeObject,
  { annotations = [], labels = [] }: { readonly annotations?: readonly string[]; readonly labels?: readonly string[] },
): Removal | undefined {
  const notes = annotations.filter((key) => metadata.annotations?.[key] !== undefined)
  const named = labels.filter((key) => metadata.labels?.[key] !== undefined)
  if (notes.length + named.length === 0) return undefined
  const says = [...notes.map((key) => `annotation ${key}`), ...named.map((key) => `label ${key}`)].join(', ')
  return {
    verb: 'patch',
    says,
    patch: {
      type: 'merge',
      body: {
        metadata: {
          ...(notes.length === 0 ? {} : { annotations: nulls(notes) }),
          ...(named.length === 0 ? {} : { labels: nulls(named) }),
        },
      },
    },
  }
}

/** A merge patch that is refused where the object has changed since. */
export function mergePatch({ metadata }: KubeObject, says: string, { metadata: own, ...body }: MergeBody): Removal {
  const { resourceVersion } = metadata
  const version = resourceVersion === undefined ? {} : { resourceVersion }
  return { verb: 'patch', says, patch: { type: 'merge', body: { ...body, metadata: { ...own, ...version } } } }
}

interface MergeBody extends JsonObject {
  readonly metadata?: JsonObject
}

function nulls(keys: readonly string[]): Record<string, null> {
  return Object.fromEntries(keys.map((key) => [key, null]))
}
