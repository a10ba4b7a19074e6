import { ApiError } from '../api/api-error.ts'
import type { JsonObject } from '../api/json.ts'
import type { KubeList, KubeObject } from '../api/kube-object.ts'
import { apiVersionOf, keyOf, type ObjectKey, type ResourceType, resourcePath } from '../api/resource-type.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Random } from '../runtime/random.ts'
import type { ClusterConnection } from './cluster-connection.ts'
import { createHttpTransport } from './http-transport.ts'
import { watchOverHttp } from './http-watch.ts'
import type { DeleteOptions, KubeApi, ListQuery, Patch, SubresourceOptions } from './kube-api.ts'

export interface HttpKubeApiOptions {
  readonly config: ClusterConnection
  readonly clock: Clock
  readonly random: Random
  readonly userAgent?: string
  /** For a whole answer, or for the beginning of a watch. */
  readonly requestTimeoutMs?: number
  /** How often a read is asked when the server fails or turns it away. */
  readonly maxAttempts?: number
  /** A watch that sends not even a bookmark for so long is taken for dead. */
  readonly watchIdleMs?: number
  /** Whether credential plugins may ask somebody at the terminal. */
  readonly interactive?: boolean
  readonly execTimeoutMs?: number
}

export interface HttpKubeApi extends KubeApi {
  /** GETs any path that answers with a JSON object: `/version`, `/apis`. */
  getRaw(path: string, options?: { readonly signal?: AbortSignal }): Promise<JsonObject>
  /** Ends watches, cuts off requests and closes every connection. */
  close(): Promise<void>
}

const patchTypes: Readonly<Record<Patch['type'], string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  // JSON is YAML, and this name is the one every server knows.
  apply: 'application/apply-patch+yaml',
}

/** A real API server, over one pool of kept-alive connections. */
export function createHttpKubeApi(options: HttpKubeApiOptions): HttpKubeApi {
  const { clock, watchIdleMs = 150_000 } = options
  const transport = createHttpTransport({
    connection: options.config,
    clock,
    random: options.random,
    userAgent: options.userAgent ?? 'cofferdam',
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    maxAttempts: options.maxAttempts ?? 4,
    interactive: options.interactive ?? false,
    execTimeoutMs: options.execTimeoutMs ?? 60_000,
  })
  // The server knows what it sends; types describe it, as everywhere with JSON.
  const json = (call: Parameters<typeof transport.json>[0]) => transport.json(call) as Promise<unknown>

  return {
    async get<T extends KubeObject>(
      type: ResourceType<T>,
      key: ObjectKey,
      { subresource, signal }: { readonly subresource?: string; readonly signal?: AbortSignal } = {},
    ) {
      return (await json({ method: 'GET', path: objectPath(type, key, subresource), signal })) as T
    },
    async list<T extends KubeObject>(type: ResourceType<T>, query: ListQuery = {}) {
      const path = resourcePath(type, scopeOf(query))
      const answer = await transport.json({ method: 'GET', path, query: listParameters(query), signal: query.signal })
      return readList(type, answer)
    },
    watch(type, query = {}) {
      const path = resourcePath(type, scopeOf(query))
      return watchOverHttp({ transport, clock, path, query, idleMs: watchIdleMs })
    },
    async create<T extends KubeObject>(type: ResourceType<T>, object: T, write: SubresourceOptions = {}) {
      const path = resourcePath(type, scopeOf(object.metadata))
      const query = writeParameters(write)
      return (await json({ method: 'POST', path, query, body: object, signal: write.signal })) as T
    },
    async createSubresource(type, key, subresource, body, write = {}) {
      const path = objectPath(type, key, subresource)
      return transport.json({ method: 'POST', path, query: writeParameters(write), body, signal: write.signal })
    },
    async update<T extends KubeObject>(type: ResourceType<T>, object: T, write: SubresourceOptions = {}) {
      const path = objectPath(type, keyOf(object), write.subresource)
      const query = writeParameters(write)
      return (await json({ method: 'PUT', path, query, body: object, signal: write.signal })) as T
    },
    async patch<T extends KubeObject>(
      type: ResourceType<T>,
      key: ObjectKey,
      patch: Patch,
      write: SubresourceOptions = {},
    ) {
      const force = patch.type === 'apply' ? patch.force : undefined
      return (await json({
        method: 'PATCH',
        path: objectPath(type, key, write.subresource),
        query: { ...writeParameters(write), force },
        body: patch.body,
        contentType: patchTypes[patch.type],
        signal: write.signal,
      })) as T
    },
    async delete<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, write: DeleteOptions = {}) {
      const path = objectPath(type, key)
      const answer = await transport.json({ method: 'DELETE', path, body: deleteBody(write), signal: write.signal })
      return (answer['kind'] === 'Status' ? lastTraceOf(type, key, answer) : answer) as unknown as T
    },
    async deleteCollection(type, query = {}, write = {}) {
      await transport.json({
        method: 'DELETE',
        path: resourcePath(type, scopeOf(query)),
        query: listParameters(query),
        body: deleteBody(write),
        signal: write.signal ?? query.signal,
      })
    },
    getRaw: (path, { signal } = {}) => transport.json({ method: 'GET', path, signal }),
    close: () => transport.close(),
  }
}

/**
 * The path of one object.
 *
 * Fails closed: a name that would lead to another path is refused here. DELETE with an empty name would reach the collection.
 */
function objectPath(type: ResourceType, key: ObjectKey, subresource?: string): string {
  for (const [field, value] of Object.entries({ name: key.name, namespace: key.namespace ?? 'default' })) {
    if (value === '' || value === '.' || value === '..' || /[/%]/.test(value)) {
      const message = `${JSON.stringify(value)} cannot be the ${field} of an object of ${type.plural}`
      throw new ApiError('BadRequest', message)
    }
  }
  return resourcePath(type, key, subresource)
}

function scopeOf({ namespace }: { readonly namespace?: string }): { namespace?: string } {
  return namespace === undefined || namespace === '' ? {} : { namespace }
}

function listParameters(query: ListQuery) {
  return {
    labelSelector: query.labelSelector,
    fieldSelector: query.fieldSelector,
    limit: query.limit,
    continue: query.continueToken,
    resourceVersion: query.resourceVersion,
    resourceVersionMatch: query.resourceVersionMatch,
  }
}

function writeParameters({ dryRun, fieldManager, fieldValidation }: SubresourceOptions) {
  return { dryRun: dryRun === true ? 'All' : undefined, fieldManager, fieldValidation }
}

function deleteBody({ dryRun, gracePeriodSeconds, propagationPolicy, preconditions }: DeleteOptions) {
  return {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    ...(dryRun === true ? { dryRun: ['All'] } : {}),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(preconditions === undefined ? {} : { preconditions }),
  }
}

/** Most kinds are answered with a bare Status once they are gone: what it says of the object is all there is. */
function lastTraceOf(type: ResourceType, key: ObjectKey, status: JsonObject): KubeObject {
  const uid = (status['details'] as { readonly uid?: string } | undefined)?.uid
  const metadata = { ...key, ...(uid === undefined ? {} : { uid }) }
  return { apiVersion: apiVersionOf(type), kind: type.kind, metadata }
}

function readList<T extends KubeObject>(type: ResourceType<T>, answer: JsonObject): KubeList<T> {
  const { items, metadata } = answer as {
    readonly items?: readonly T[] | null
    readonly metadata?: {
      readonly resourceVersion?: string
      readonly continue?: string
      readonly remainingItemCount?: number
    }
  }
  const apiVersion = apiVersionOf(type)
  return {
    // In a list, servers leave out what all items share.
    items: (items ?? []).map((item) => (item.kind === undefined ? { ...item, apiVersion, kind: type.kind } : item)),
    resourceVersion: metadata?.resourceVersion ?? '',
    ...(metadata?.continue ? { continueToken: metadata.continue } : {}),
    ...(metadata?.remainingItemCount === undefined ? {} : { remainingItemCount: metadata.remainingItemCount }),
  }
}
