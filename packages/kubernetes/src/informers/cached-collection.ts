import { isSameJson } from '../api/json.ts'
import type { KubeObject } from '../api/kube-object.ts'
import { keyOf, keyText } from '../api/resource-type.ts'
import type { WatchEvent } from '../client/kube-api.ts'
import { compareResourceVersions } from '../client/resource-version.ts'
import { CacheContents, type CacheEntry, type Indexes } from './cache-contents.ts'
import { Neighbours } from './neighbours.ts'
import { shareParts } from './share-parts.ts'
import type { ViewChange } from './watch-view.ts'

export interface CachedCollectionOptions<T extends KubeObject, V> {
  readonly project: (object: T) => V
  /** Whether values that are equal as JSON count as the same, so that no listener is notified. */
  readonly sharesEqualValues: boolean
  readonly indexes: Indexes<V>
  readonly emit: (change: ViewChange<V>) => void
}

/** A list under way: filled page by page or event by event, unseen until it is whole. */
export interface StagedList<T extends KubeObject> {
  put(object: T): void
  remove(object: T): void
  /** Takes the place of what was held, and notifies of the difference. */
  commit(resourceVersion: string): void
}

/**
 * What is held of one collection, and which events still change it.
 *
 * Guarantees: an event that is older than what is held changes nothing. Versions are compared as integers, which
 * Kubernetes permits within one resource, and they grow over the lives of a name: so a new object of the same name is
 * newer than any trace of the old one. Where versions cannot be compared, the server's order is trusted.
 */
export class CachedCollection<T extends KubeObject, V> {
  readonly #options: CachedCollectionOptions<T, V>
  #contents: CacheContents<V>
  #resourceVersion: string | undefined
  /** Everything up to here is in: a list, a bookmark, or the point from which a stream went on. */
  #floor = ''
  /** Versions of removals since the floor; without them a repeated event would bring the dead back. */
  readonly #removedAt = new Map<string, string>()
  readonly #neighbours = new Neighbours<V>()

  constructor(options: CachedCollectionOptions<T, V>) {
    this.#options = options
    this.#contents = new CacheContents(options.indexes)
  }

  get contents(): CacheContents<V> {
    return this.#contents
  }

  /** Undefined before the first list. */
  get resourceVersion(): string | undefined {
    return this.#resourceVersion
  }

  /** Call before a stream goes on from `resourceVersion`: the server was asked for later events only. */
  resume(): void {
    this.#settle(this.#resourceVersion ?? '')
  }

  apply(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') {
      this.#advance(event.resourceVersion)
      this.#settle(event.resourceVersion)
      return
    }
    const { object } = event
    const key = keyText(keyOf(object))
    const version = object.metadata.resourceVersion ?? ''
    const held = this.#contents.entries.get(key)
    const isOld =
      isNotNewer(version, this.#floor) ||
      isNotNewer(version, this.#removedAt.get(key)) ||
      isNotNewer(version, held?.resourceVersion)
    // Some servers that extend the API end an object under the version of its last change.
    const isEndOfHeld = event.type === 'DELETED' && version === held?.resourceVersion
    if (isOld && !isEndOfHeld) return
    if (event.type === 'DELETED') this.#remove(key, version, held)
    else this.#put(key, object, held)
    this.#advance(version)
  }

  stage(): StagedList<T> {
    const staged = new CacheContents<V>(this.#options.indexes)
    return {
      put: (object) => {
        const key = keyText(keyOf(object))
        staged.put(key, this.#entryOf(key, object, this.#contents.entries.get(key)))
      },
      remove: (object) => staged.remove(keyText(keyOf(object))),
      commit: (resourceVersion) => this.#replace(staged, resourceVersion),
    }
  }

  /** A version may also be smaller than before: that happens when a cluster is restored from a backup. */
  #replace(next: CacheContents<V>, resourceVersion: string): void {
    const before = this.#contents
    this.#contents = next
    this.#resourceVersion = resourceVersion
    this.#floor = resourceVersion
    this.#removedAt.clear()
    const { emit } = this.#options
    for (const [key, { value: previous }] of before.entries) {
      if (!next.entries.has(key)) emit({ type: 'removed', key, previous })
    }
    for (const [key, { value }] of next.entries) {
      const previous = before.entries.get(key)
      if (previous === undefined) emit({ type: 'added', key, value })
      else if (previous.value === value) emit({ type: 'resynced', key, value, previous: value })
      else emit({ type: 'changed', key, value, previous: previous.value })
    }
  }

  #put(key: string, object: T, held: CacheEntry<V> | undefined): void {
    const entry = this.#entryOf(key, object, held)
    this.#contents.put(key, entry)
    this.#removedAt.delete(key)
    const { value } = entry
    if (held === undefined) this.#options.emit({ type: 'added', key, value })
    else if (held.value !== value) this.#options.emit({ type: 'changed', key, value, previous: held.value })
  }

  #remove(key: string, version: string, held: CacheEntry<V> | undefined): void {
    this.#removedAt.set(key, version)
    if (held === undefined) return
    this.#contents.remove(key)
    this.#options.emit({ type: 'removed', key, previous: held.value })
  }

  #entryOf(key: string, object: T, held: CacheEntry<V> | undefined): CacheEntry<V> {
    const { resourceVersion = '' } = object.metadata
    const isOfHeld = held !== undefined && held.uid === (object.metadata.uid ?? '')
    // The text that is in memory already, beside which an equal one would stay for as long as the object.
    const uid = isOfHeld ? held.uid : (object.metadata.uid ?? '')
    if (isOfHeld && held.resourceVersion === resourceVersion && uid !== '') return held
    const value = this.#options.project(object)
    const isSame = this.#options.sharesEqualValues && isOfHeld && isSameJson(held.value, value)
    if (isSame) return { value: held.value, uid, resourceVersion }
    shareParts(value, held?.value, this.#neighbours.next(key, value))
    return { value, uid, resourceVersion }
  }

  #advance(version: string): void {
    if (version !== '' && !isNotNewer(version, this.#resourceVersion)) this.#resourceVersion = version
  }

  #settle(floor: string): void {
    if (floor === '' || isNotNewer(floor, this.#floor)) return
    this.#floor = floor
    for (const [key, version] of this.#removedAt) if (isNotNewer(version, floor)) this.#removedAt.delete(key)
  }
}

function isNotNewer(version: string, than: string | undefined): boolean {
  if (than === undefined || than === '') return false
  const order = compareResourceVersions(version, than)
  return order !== undefined && order <= 0
}
