import type { KubeObject } from '../api/kube-object.ts'
import type { WatchEvent } from '../client/kube-api.ts'
import type { StagedList } from './cached-collection.ts'
import { type FollowedCollection, type FollowOptions, followCollection } from './follow-collection.ts'

/**
 * Lets readers of the same objects share one watch, each with its own projection and indexes.
 *
 * Guarantees: readers that come in the same turn of the event loop and ask for the same kind, namespace and selectors are fed by one
 * watch; nothing is kept of an object but what each of them keeps. Each sees what a watch of its own would show. One whose projection
 * throws goes on with a watch of its own, and keeps nothing from the others. The watch ends with its last reader. Whoever comes after
 * it has begun has a watch of its own.
 */
export class SharedWatches {
  readonly #gathering = new Map<string, Reader<KubeObject>[]>()

  /** As `followCollection`: resolves when the reader was stopped. Never rejects. */
  follow<T extends KubeObject>(options: FollowOptions<T>): Promise<void> {
    return new Promise((resolve) => {
      const reader: Reader<T> = { options, end: resolve }
      const key = watchKey(options)
      const gathering = this.#gathering.get(key) as Reader<T>[] | undefined
      if (gathering !== undefined) {
        gathering.push(reader)
        return
      }
      const readers = [reader]
      this.#gathering.set(key, readers as unknown as Reader<KubeObject>[])
      queueMicrotask(() => {
        this.#gathering.delete(key)
        void new SharedWatch(readers).run()
      })
    })
  }
}

interface Reader<T extends KubeObject> {
  readonly options: FollowOptions<T>
  /** The reader needs nothing more. */
  readonly end: () => void
}

class SharedWatch<T extends KubeObject> implements FollowedCollection<T> {
  readonly #readers: Set<Reader<T>>
  readonly #options: FollowOptions<T>
  readonly #ending = new AbortController()

  constructor(readers: readonly Reader<T>[]) {
    this.#readers = new Set(readers)
    this.#options = (readers[0] as Reader<T>).options
  }

  async run(): Promise<void> {
    for (const reader of this.#readers) {
      const { signal } = reader.options
      const leave = () => this.#leave(reader)
      if (signal.aborted) leave()
      else signal.addEventListener('abort', leave, { once: true })
    }
    if (this.#readers.size === 0) return
    await followCollection({
      ...this.#options,
      collection: this,
      signal: this.#ending.signal,
      onHeard: () => this.#each(({ options }) => options.onHeard()),
      onError: (error) => this.#each(({ options }) => options.onError(error)),
    })
  }

  /** All readers have heard the same. */
  get resourceVersion(): string | undefined {
    const [first] = this.#readers
    return first?.options.collection.resourceVersion
  }

  resume(): void {
    this.#each(({ options }) => options.collection.resume())
  }

  apply(event: WatchEvent<T>): void {
    this.#each(({ options }) => options.collection.apply(event))
  }

  stage(): StagedList<T> {
    const staged = new Map([...this.#readers].map((reader) => [reader, reader.options.collection.stage()]))
    return {
      put: (object) => this.#each((reader) => staged.get(reader)?.put(object)),
      remove: (object) => this.#each((reader) => staged.get(reader)?.remove(object)),
      commit: (resourceVersion) => this.#each((reader) => staged.get(reader)?.commit(resourceVersion)),
    }
  }

  #each(act: (reader: Reader<T>) => void): void {
    for (const reader of this.#readers) {
      try {
        if (this.#readers.has(reader)) act(reader)
      } catch (error) {
        this.#part(reader, error)
      }
    }
  }

  /** What it cannot take is its own affair from now on: others must not be kept waiting. */
  #part(reader: Reader<T>, error: unknown): void {
    const { options } = reader
    this.#readers.delete(reader)
    this.#endIfAlone()
    options.onError(error)
    void followCollection(options).then(reader.end)
  }

  #leave(reader: Reader<T>): void {
    if (!this.#readers.delete(reader)) return
    reader.end()
    this.#endIfAlone()
  }

  #endIfAlone(): void {
    if (this.#readers.size === 0) this.#ending.abort()
  }
}

function watchKey<T extends KubeObject>(options: FollowOptions<T>): string {
  const { type, namespace, labelSelector, fieldSelector, pageSize, listBy, stallMs } = options
  const { group, version, plural } = type
  return JSON.stringify([group, version, plural, namespace, labelSelector, fieldSelector, pageSize, listBy, stallMs])
}
