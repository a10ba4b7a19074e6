import { ApiError } from '../api/api-error.ts'
import type { KubeObject } from '../api/kube-object.ts'
import { type Moment, momentOf, passedMs } from '../runtime/clock.ts'
import { createWatchCache, type WatchCache, type WatchCacheOptions } from './watch-cache.ts'

export interface OptionalCache<V> extends WatchCache<V> {
  /** Whether the server has been seen to know the kind. */
  isServed(): boolean
}

/**
 * A watch cache of a kind that the cluster may not have.
 *
 * Guarantees: while the server says that there is no such kind the cache counts as read, and empty, and `onAbsent` is called
 * once; the kind is asked for again with the cache's own waits, so it is found soon after it was installed.
 */
export function createOptionalCache<T extends KubeObject, V = T>(
  options: WatchCacheOptions<T, V> & { readonly onAbsent?: () => void },
): OptionalCache<V> {
  const { clock, onError } = options
  let absentAt: Moment | undefined
  const waiters = new Set<() => void>()
  const cache = createWatchCache<T, V>({
    ...options,
    onError(error) {
      if (!(error instanceof ApiError && error.code === 404)) {
        onError?.(error)
        return
      }
      if (absentAt === undefined) options.onAbsent?.()
      absentAt = momentOf(clock)
      for (const wake of waiters) wake()
      waiters.clear()
    },
  })
  const isAbsent = () => absentAt !== undefined && !cache.synced
  void cache.whenSynced().then(
    () => {
      absentAt = undefined
    },
    () => {},
  )

  return {
    ...cache,
    isServed: () => cache.synced,
    get synced() {
      return cache.synced || isAbsent()
    },
    get size() {
      return cache.size
    },
    ageMs: () => (isAbsent() ? passedMs(clock, absentAt as Moment) : cache.ageMs()),
    whenSynced(signal) {
      if (isAbsent()) return Promise.resolve()
      const absent = new Promise<void>((resolve) => waiters.add(resolve))
      return Promise.race([cache.whenSynced(signal), absent])
    },
  }
}
