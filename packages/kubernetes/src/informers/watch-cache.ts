import type { KubeObject } from '../api/kube-object.ts'
import { keyText, type ObjectKey, type ResourceType } from '../api/resource-type.ts'
import type { KubeApi } from '../client/kube-api.ts'
import { compareResourceVersions } from '../client/resource-version.ts'
import { CofferdamError } from '../errors.ts'
import { type Clock, type Moment, momentOf, passedMs } from '../runtime/clock.ts'
import type { Random } from '../runtime/random.ts'
import { CachedCollection } from './cached-collection.ts'
import { type FollowOptions, followCollection } from './follow-collection.ts'
import type { SharedWatches } from './shared-watches.ts'
import type { ViewChange, WatchView } from './watch-view.ts'

export interface WatchCacheOptions<T extends KubeObject, V> {
  readonly api: KubeApi
  readonly type: ResourceType<T>
  readonly clock: Clock
  readonly random: Random
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Keeps only what is asked for, as plain JSON. A change that leaves the projection equal notifies nobody. */
  readonly project?: (object: T) => V
  readonly indexes?: Readonly<Record<string, (value: NoInfer<V>) => readonly string[]>>
  readonly pageSize?: number
  /** `stream` asks for the present state as watch events where the server can, which needs least memory; else pages. */
  readonly listBy?: 'stream' | 'pages'
  /** A stream that is silent for so long is given up and taken up again. */
  readonly stallMs?: number
  /** Shares its watch with others that read the same; by default it has one of its own. */
  readonly watches?: SharedWatches
  readonly onChange?: (change: ViewChange<NoInfer<V>>) => void
  /** The server was heard, and what it said is in. */
  readonly onHeard?: () => void
  /** Called for every interruption and of every listener that throws; the cache goes on. */
  readonly onError?: (error: unknown) => void
}

interface CacheAge {
  readonly synced: boolean
  /** Everything up to this version is in; undefined before the first list. */
  readonly resourceVersion: string | undefined
  /** Milliseconds since the server was last heard: by an event, a bookmark or a list. */
  ageMs(): number
}

export interface WatchCache<V> extends WatchView<V> {
  get(key: ObjectKey | string): V | undefined
  list(): readonly V[]
  readonly size: number
  view(): CacheAge
  /** Remembers a write of our own, as the server answered it. */
  noteWrite(object: KubeObject): void
  /** Whether the cache reflects this version; without one, every write noted so far. */
  hasSeen(resourceVersion?: string): boolean
  whenSeen(resourceVersion?: string, signal?: AbortSignal): Promise<void>
  /** Ends the watch. What is held stays readable, and grows old. */
  stop(): Promise<void>
}

interface Waiter {
  readonly isMet: () => boolean
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/**
 * A copy of one collection that follows the server until it is stopped.
 *
 * Guarantees: after any run of faults it comes to hold exactly what the server holds; while a new list is under way the old
 * state is served; a listener that throws stops neither the cache nor other listeners.
 * Assumes: `project` and `indexes` are pure. When one throws, the cache cannot hold what the server says: it reports,
 * tries again later and grows old, so that whoever checks its age stops trusting it.
 */
export function createWatchCache<T extends KubeObject, V = T>(options: WatchCacheOptions<T, V>): WatchCache<V> {
  const { clock, project, onError = () => {} } = options
  const stopping = new AbortController()
  const listeners = new Set<(change: ViewChange<V>) => void>()
  if (options.onChange !== undefined) listeners.add(options.onChange)
  const waiters = new Set<Waiter>()
  let heardAt: Moment | undefined
  let lastWrite: string | undefined

  const report = (error: unknown) => {
    try {
      onError(error)
    } catch {
      // Nobody is left to notify.
    }
  }
  const collection = new CachedCollection<T, V>({
    project: project ?? ((object) => object as unknown as V),
    sharesEqualValues: project !== undefined,
    indexes: options.indexes ?? {},
    emit(change) {
      for (const listener of listeners) {
        try {
          listener(change)
        } catch (error) {
          report(error)
        }
      }
    },
  })

  const follow = (feed: FollowOptions<T>) => options.watches?.follow(feed) ?? followCollection(feed)
  const running = follow({
    ...options,
    collection,
    signal: stopping.signal,
    onError: report,
    onHeard() {
      heardAt = momentOf(clock)
      options.onHeard?.()
      for (const waiter of waiters) if (waiter.isMet()) waiter.resolve()
    },
  })

  const isSynced = () => collection.resourceVersion !== undefined
  const hasSeen = (version: string | undefined) => {
    if (collection.resourceVersion === undefined) return false
    if (version === undefined) return true
    // Versions that cannot be compared are seen when they are the very one: fails closed.
    return (compareResourceVersions(collection.resourceVersion, version) ?? -1) >= 0
  }

  function until(isMet: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    if (isMet()) return Promise.resolve()
    if (signal?.aborted) return Promise.reject(signal.reason as Error)
    if (stopping.signal.aborted) return Promise.reject(stoppedError())
    return new Promise((resolve, reject) => {
      const giveUp = () => waiter.reject(signal?.reason)
      const leave = () => {
        waiters.delete(waiter)
        signal?.removeEventListener('abort', giveUp)
      }
      const waiter: Waiter = {
        isMet,
        resolve: () => {
          leave()
          resolve()
        },
        reject: (reason) => {
          leave()
          reject(reason as Error)
        },
      }
      waiters.add(waiter)
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }

  const ageMs = () => (heardAt === undefined || !isSynced() ? Number.POSITIVE_INFINITY : passedMs(clock, heardAt))

  function stoppedError(): CofferdamError {
    const message = `the cache of ${options.type.plural} was stopped before it had seen that`
    return new CofferdamError('API_UNREACHABLE', message, { facts: { resource: options.type.plural } })
  }

  return {
    get synced() {
      return isSynced()
    },
    get size() {
      return collection.contents.entries.size
    },
    ageMs,
    view: () => ({ synced: isSynced(), resourceVersion: collection.resourceVersion, ageMs }),
    get: (key) => collection.contents.entries.get(typeof key === 'string' ? key : keyText(key))?.value,
    list: () => collection.contents.list(),
    byIndex: (index, value) => collection.contents.byIndex(index, value),
    subscribe(listener) {
      // The same function may be given twice, and each is to be ended on its own.
      const own = (change: ViewChange<V>) => listener(change)
      listeners.add(own)
      return () => listeners.delete(own)
    },
    whenSynced: (signal) => until(isSynced, signal),
    noteWrite({ metadata: { resourceVersion } }) {
      if (resourceVersion === undefined) return
      const order = lastWrite === undefined ? 1 : compareResourceVersions(resourceVersion, lastWrite)
      if (order === undefined || order > 0) lastWrite = resourceVersion
    },
    hasSeen: (version = lastWrite) => hasSeen(version),
    whenSeen: (version = lastWrite, signal?: AbortSignal) => until(() => hasSeen(version), signal),
    async stop() {
      if (!stopping.signal.aborted) {
        listeners.clear()
        stopping.abort()
        for (const waiter of waiters) waiter.reject(stoppedError())
      }
      await running
    },
  }
}
