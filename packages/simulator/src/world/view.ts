import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { entryOf } from './entry-of.ts'

/** One object came (`before` absent), changed, or went (`after` absent). */
export interface Change<T extends KubeObject> {
  readonly key: string
  readonly before: T | undefined
  readonly after: T | undefined
}

type ChangeListener<T extends KubeObject> = (change: Change<T>) => void

interface Index<T> {
  readonly valuesOf: (object: T) => readonly string[]
  readonly entries: Map<string, Map<string, T>>
}

const pageSize = 2_000
const firstPauseMs = 100
const longestPauseMs = 10_000

/**
 * The objects of one kind as last seen: listed once, then watched, listed again only when the watch cannot go on.
 *
 * Guarantees: an object never goes back to an older version, unless a stream has ended: the server may have been restored from a backup. What `record` got is seen at once, so whoever writes
 * through the API and records the answer reads its own writes; who is told of a list that was read again finds all of it in place.
 */
export class View<T extends KubeObject = KubeObject> {
  readonly type: ResourceType<T>
  readonly #api: KubeApi
  readonly #clock: Clock
  readonly #onFailure: (error: unknown) => void
  readonly #held = new Map<string, T>()
  readonly #indexes = new Map<string, Index<T>>()
  readonly #listeners = new Set<ChangeListener<T>>()
  readonly #readyListeners = new Set<() => void>()
  /** Objects we saw deleted ourselves and whose DELETED event is still to come, by uid. */
  readonly #buried = new Set<string>()
  readonly #abort = new AbortController()
  #seenVersion = 0
  /** What is still to be told, while a list is being taken in. */
  #untold: Change<T>[] | undefined
  #ready = false

  constructor(ports: {
    api: KubeApi
    clock: Clock
    type: ResourceType<T>
    /** Called for each failure to list or watch, which is tried again in any case. */
    onFailure?: (error: unknown) => void
  }) {
    this.#api = ports.api
    this.#clock = ports.clock
    this.type = ports.type
    this.#onFailure = ports.onFailure ?? (() => {})
    void this.#follow()
  }

  get isReady(): boolean {
    return this.#ready
  }

  get size(): number {
    return this.#held.size
  }

  get(key: string): T | undefined {
    return this.#held.get(key)
  }

  values(): IterableIterator<T> {
    return this.#held.values()
  }

  /** Notifies of everything held now and of every change after, in order. */
  subscribe(listener: ChangeListener<T>): () => void {
    for (const [key, after] of this.#held) listener({ key, before: undefined, after })
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  onReady(listener: () => void): () => void {
    if (this.#ready) {
      listener()
      return () => {}
    }
    this.#readyListeners.add(listener)
    return () => this.#readyListeners.delete(listener)
  }

  /** A lookup by something other than the key. Indexes of the same name are one; the first definition counts. */
  indexBy(name: string, valuesOf: (object: T) => readonly string[]): (value: string) => Iterable<T> {
    let index = this.#indexes.get(name)
    if (index === undefined) {
      index = { valuesOf, entries: new Map() }
      this.#indexes.set(name, index)
      for (const [key, object] of this.#held) enter(index, key, undefined, object)
    }
    const { entries } = index
    return (value) => entries.get(value)?.values() ?? []
  }

  /** Takes in the answer of a write of ours before the watch brings it. */
  record(object: T): void {
    // The watch has gone past this version: it has delivered this state and of all that followed.
    if (versionOf(object) <= this.#seenVersion) return
    this.#put(object)
  }

  /** Takes in the answer of a delete of ours: the object is gone, or it is terminating. */
  recordDeleted(object: T): void {
    const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata
    if (deletionTimestamp !== undefined && (deletionGracePeriodSeconds > 0 || finalizers.length > 0)) {
      this.record(object)
      return
    }
    const key = keyText(keyOf(object))
    const { uid } = object.metadata
    if (uid === undefined || this.#held.get(key)?.metadata.uid !== uid) return
    this.#buried.add(uid)
    this.#remove(key)
  }

  stop(): void {
    this.#listeners.clear()
    this.#readyListeners.clear()
    this.#abort.abort()
  }

  async #follow(): Promise<void> {
    const { signal } = this.#abort
    let from: string | undefined
    let isBroken = false
    let pauseMs = firstPauseMs
    while (!signal.aborted) {
      try {
        from ??= await this.#list({ isAnew: isBroken })
        isBroken = false
        for await (const event of this.#api.watch(this.type, { resourceVersion: from, signal })) {
          if (signal.aborted) return
          from = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion
          pauseMs = firstPauseMs
          if (event.type === 'DELETED') this.#observeDeleted(event.object)
          else if (event.type !== 'BOOKMARK') this.#observe(event.object)
        }
        // A server that was restored gives out the same versions again: who goes on from one would miss what became of it.
        from = undefined
        isBroken = true
        if (!signal.aborted) await sleep(this.#clock, firstPauseMs, signal)
      } catch (error) {
        if (hasReason(error, 'Expired', 'Gone')) from = undefined
        else if (!signal.aborted) this.#onFailure(error)
        await sleep(this.#clock, pauseMs, signal)
        pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      }
    }
  }

  async #list({ isAnew }: { readonly isAnew: boolean }): Promise<string> {
    const { signal } = this.#abort
    const listed = new Map<string, T>()
    let continueToken: string | undefined
    let version = ''
    do {
      const page = await this.#api.list<T>(this.type, {
        limit: pageSize,
        ...(continueToken === undefined ? {} : { continueToken }),
        signal,
      })
      for (const object of page.items) listed.set(keyText(keyOf(object)), object)
      version = page.resourceVersion
      continueToken = page.continueToken
    } while (continueToken !== undefined && continueToken !== '')
    if (signal.aborted) return version
    this.#replace(listed, { version, isAnew })
    return version
  }

  #replace(
    listed: ReadonlyMap<string, T>,
    { version, isAnew }: { readonly version: string; readonly isAnew: boolean },
  ): void {
    this.#buried.clear()
    const listVersion = Number(version)
    const changes: Change<T>[] = []
    this.#untold = changes
    for (const [key, object] of Array.from(this.#held)) {
      // Written by us after the list was taken: the watch will bring it.
      const isGone = !listed.has(key) && (isAnew || versionOf(object) <= listVersion)
      // Of two objects of one name the first has to go before the second comes.
      if (isGone || (isAnew && listed.get(key)?.metadata.uid !== object.metadata.uid)) this.#remove(key)
    }
    for (const object of listed.values()) this.#put(object, isAnew)
    this.#seenVersion = isAnew ? listVersion : Math.max(this.#seenVersion, listVersion)
    this.#untold = undefined
    for (const change of changes) this.#notify(change)
    if (this.#ready) return
    this.#ready = true
    for (const listener of Array.from(this.#readyListeners)) listener()
    this.#readyListeners.clear()
  }

  #observe(object: T): void {
    this.#seenVersion = Math.max(this.#seenVersion, versionOf(object))
    if (this.#buried.has(object.metadata.uid ?? '')) return
    this.#put(object)
  }

  #observeDeleted(object: T): void {
    this.#seenVersion = Math.max(this.#seenVersion, versionOf(object))
    if (this.#buried.delete(object.metadata.uid ?? '')) return
    const key = keyText(keyOf(object))
    const held = this.#held.get(key)
    if (held !== undefined && held.metadata.uid === object.metadata.uid) this.#remove(key)
  }

  #put(object: T, isAnew = false): void {
    const key = keyText(keyOf(object))
    const before = this.#held.get(key)
    const isOld = before !== undefined && versionOf(before) >= versionOf(object)
    if (isOld && (!isAnew || versionOf(before) === versionOf(object))) return
    this.#held.set(key, object)
    for (const index of this.#indexes.values()) enter(index, key, before, object)
    this.#notify({ key, before, after: object })
  }

  #remove(key: string): void {
    const before = this.#held.get(key)
    if (before === undefined) return
    this.#held.delete(key)
    for (const index of this.#indexes.values()) leave(index, key, before)
    this.#notify({ key, before, after: undefined })
  }

  #notify(change: Change<T>): void {
    if (this.#untold !== undefined) {
      this.#untold.push(change)
      return
    }
    for (const listener of this.#listeners) listener(change)
  }
}

function versionOf(object: KubeObject): number {
  return Number(object.metadata.resourceVersion ?? 0)
}

function enter<T>(index: Index<T>, key: string, before: T | undefined, after: T): void {
  const values = index.valuesOf(after)
  if (before !== undefined) {
    for (const value of index.valuesOf(before)) if (!values.includes(value)) leaveValue(index, key, value)
  }
  for (const value of values) {
    entryOf(index.entries, value, () => new Map<string, T>()).set(key, after)
  }
}

function leave<T>(index: Index<T>, key: string, before: T): void {
  for (const value of index.valuesOf(before)) leaveValue(index, key, value)
}

function leaveValue<T>(index: Index<T>, key: string, value: string): void {
  const members = index.entries.get(value)
  members?.delete(key)
  if (members?.size === 0) index.entries.delete(value)
}
