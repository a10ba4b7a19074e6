import type { Json, JsonObject } from '../api/json.ts'
import type { KubeList, KubeObject } from '../api/kube-object.ts'
import type { ObjectKey, ResourceType } from '../api/resource-type.ts'

export interface WriteOptions {
  /** Everything is checked and answered, nothing is stored. */
  readonly dryRun?: boolean
  /** Who the written fields belong to. */
  readonly fieldManager?: string
  /** What to do with unknown or duplicate fields; the server's default is Warn. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
  readonly signal?: AbortSignal
}

export interface SubresourceOptions extends WriteOptions {
  readonly subresource?: string
}

export interface ListQuery {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** A page holds at most this many. */
  readonly limit?: number
  readonly continueToken?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  readonly signal?: AbortSignal
}

export interface WatchQuery {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Events after this version. Absent or '0': the present state first, as ADDED events. */
  readonly resourceVersion?: string
  readonly allowBookmarks?: boolean
  /** Watch-list: the present state as ADDED events, then a bookmark whose `initialEventsEnd` is true. */
  readonly sendInitialEvents?: boolean
  readonly resourceVersionMatch?: 'NotOlderThan'
  readonly timeoutSeconds?: number
  readonly signal?: AbortSignal
}

export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd?: boolean }

export type Patch =
  | { readonly type: 'json'; readonly body: readonly Json[] }
  | { readonly type: 'merge'; readonly body: JsonObject }
  | { readonly type: 'strategic'; readonly body: JsonObject }
  /** Server-side apply. `force` takes fields over from other managers. */
  | { readonly type: 'apply'; readonly body: JsonObject; readonly force?: boolean }

export interface DeleteOptions {
  readonly dryRun?: boolean
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground'
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly signal?: AbortSignal
}

/**
 * The port through which everything of ours talks to Kubernetes.
 *
 * Guarantees: objects that come out are never changed by anybody; a refusal is thrown as an `ApiError`; what is neither
 * an answer nor a refusal (no connection, cut off, timed out) is thrown as a `CofferdamError` with code
 * `API_UNREACHABLE`, and then a write may or may not have happened.
 */
export interface KubeApi {
  get<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    options?: { readonly subresource?: string; readonly signal?: AbortSignal },
  ): Promise<T>
  list<T extends KubeObject>(type: ResourceType<T>, query?: ListQuery): Promise<KubeList<T>>
  /** Ends without an error when the server closes the stream or the signal fires; 410 is thrown as ApiError `Expired`. */
  watch<T extends KubeObject>(type: ResourceType<T>, query?: WatchQuery): AsyncIterable<WatchEvent<T>>
  create<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>
  /** POSTs to a subresource of one object: `eviction`, `binding`, `token`. */
  createSubresource(
    type: ResourceType,
    key: ObjectKey,
    subresource: string,
    body: JsonObject,
    options?: WriteOptions,
  ): Promise<JsonObject>
  /** Replaces the object. With a resourceVersion in its metadata this is a compare-and-swap: 409 `Conflict` when it is stale. */
  update<T extends KubeObject>(type: ResourceType<T>, object: T, options?: SubresourceOptions): Promise<T>
  patch<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: Patch,
    options?: SubresourceOptions,
  ): Promise<T>
  /** Resolves with the last state of the object: gone, or terminating when finalizers or a grace period hold it. */
  delete<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, options?: DeleteOptions): Promise<T>
  deleteCollection(type: ResourceType, query?: ListQuery, options?: DeleteOptions): Promise<void>
}

/** Asks for a pod to go, within its disruption budgets. Refused with 429 `TooManyRequests` while a budget holds it. */
export async function evictPod(
  api: KubeApi,
  pod: { readonly namespace: string; readonly name: string; readonly uid?: string },
  options: WriteOptions & { readonly gracePeriodSeconds?: number } = {},
): Promise<void> {
  const { gracePeriodSeconds, ...write } = options
  await api.createSubresource(
    { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true },
    { namespace: pod.namespace, name: pod.name },
    'eviction',
    {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: pod.name, namespace: pod.namespace },
      deleteOptions: {
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
        ...(pod.uid === undefined ? {} : { preconditions: { uid: pod.uid } }),
      },
    },
    write,
  )
}
