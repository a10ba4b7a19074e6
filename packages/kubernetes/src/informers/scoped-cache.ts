import { ApiError } from '../api/api-error.ts'
import type { KubeObject } from '../api/kube-object.ts'
import type { ObjectKey } from '../api/resource-type.ts'
import { createWatchCache, type WatchCache, type WatchCacheOptions } from './watch-cache.ts'
import type { WatchView } from './watch-view.ts'

export interface ScopedCacheOptions<T extends KubeObject, V> extends Omit<WatchCacheOptions<T, V>, 'namespace'> {
  /** Undefined: all of them, by one watch. */
  readonly namespaces: readonly string[] | undefined
  /** Called once for each namespace that may not be read, until it may. */
  readonly onUnread?: (namespace: string, error: ApiError) => void
}

export interface ScopedCache<V> extends WatchView<V> {
  stop(): Promise<void>
}

/** The index by which controllers ask for what is in one namespace. */
const namespaceIndex = 'namespace'

interface Part<V> {
  readonly namespace: string
  readonly cache: WatchCache<V>
  readonly refusal: () => ApiError | undefined
  readonly whenRead: (signal?: AbortSignal) => Promise<void>
}

/**
 * One view of several namespaces, each with a watch of its own, so that rights in these are enough.
 *
 * Guarantees: what one watch of everything would show of these namespaces, and nothing of others. A namespace that may not be read
 * keeps nobody from reading the others: it counts as read, and is tried again with the waits of the cache. Whoever asks by
 * name for one that is not read gets the reason, instead of an empty answer.
 */
export function createScopedCache<T extends KubeObject, V = T>(options: ScopedCacheOptions<T, V>): ScopedCache<V> {
  const { namespaces, onUnread, ...rest } = options
  if (namespaces === undefined) return createWatchCache<T, V>(rest)
  const parts = new Map(
    [...new Set(namespaces)].map((namespace) => [namespace, openPart(rest, namespace, onUnread)] as const),
  )
  const all = [...parts.values()]
  const { plural } = options.type

  function partOf(namespace: string): WatchCache<V> {
    const part = parts.get(namespace)
    const refusal = part?.refusal()
    if (part !== undefined && refusal === undefined) return part.cache
    throw (
      refusal ?? new ApiError('Forbidden', `${plural} in the namespace "${namespace}" are not read: it is not named`)
    )
  }

  return {
    get synced() {
      return all.every(({ cache, refusal }) => cache.synced || refusal() !== undefined)
    },
    whenSynced: async (signal) => void (await Promise.all(all.map(({ whenRead }) => whenRead(signal)))),
    get: (key: ObjectKey) => partOf(key.namespace ?? '').get(key),
    list: () => all.flatMap(({ cache }) => cache.list()),
    byIndex(index, value) {
      if (index === namespaceIndex) return partOf(value).byIndex(index, value)
      return all.flatMap(({ cache }) => cache.byIndex(index, value))
    },
    subscribe(listener) {
      const ends = all.map(({ cache }) => cache.subscribe(listener))
      return () => {
        for (const end of ends) end()
      }
    },
    ageMs: () => Math.max(0, ...all.filter(({ refusal }) => refusal() === undefined).map(({ cache }) => cache.ageMs())),
    async whenSeen(version, signal, namespace) {
      const concerned = all.filter((part) => namespace === undefined || part.namespace === namespace)
      const readable = concerned.filter(({ refusal }) => refusal() === undefined)
      await Promise.all(readable.map(({ cache }) => cache.whenSeen(version, signal)))
    },
    stop: async () => void (await Promise.all(all.map(({ cache }) => cache.stop()))),
  }
}

function openPart<T extends KubeObject, V>(
  options: WatchCacheOptions<T, V>,
  namespace: string,
  onUnread: ScopedCacheOptions<T, V>['onUnread'],
): Part<V> {
  let refused: ApiError | undefined
  const waiters = new Set<() => void>()
  const cache = createWatchCache<T, V>({
    ...options,
    namespace,
    onError(error) {
      if (!(error instanceof ApiError && error.code === 403)) return options.onError?.(error)
      if (refused === undefined) onUnread?.(namespace, error)
      refused = error
      for (const wake of waiters) wake()
      waiters.clear()
    },
  })
  // What was read once stays readable, however old: its age says so.
  const refusal = () => (cache.synced ? undefined : refused)
  void cache.whenSynced().then(
    () => {
      refused = undefined
    },
    () => {},
  )
  return {
    namespace,
    cache,
    refusal,
    whenRead(signal) {
      if (refusal() !== undefined) return Promise.resolve()
      const notified = new Promise<void>((resolve) => waiters.add(resolve))
      return Promise.race([cache.whenSynced(signal), notified])
    },
  }
}
