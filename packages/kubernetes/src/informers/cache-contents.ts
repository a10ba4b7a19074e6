export interface CacheEntry<V> {
  readonly value: V
  readonly uid: string
  readonly resourceVersion: string
}

export type Indexes<V> = Readonly<Record<string, (value: V) => readonly string[]>>

/** Entries by key, and the keys by each index. Plain bookkeeping: what is old or new is decided elsewhere. */
export class CacheContents<V> {
  readonly entries = new Map<string, CacheEntry<V>>()
  readonly #indexes: Indexes<V>
  readonly #keysByIndex = new Map<string, Map<string, Set<string>>>()
  #listed: readonly V[] | undefined

  constructor(indexes: Indexes<V>) {
    this.#indexes = indexes
    for (const name of Object.keys(indexes)) this.#keysByIndex.set(name, new Map())
  }

  put(key: string, entry: CacheEntry<V>): void {
    const previous = this.entries.get(key)
    this.entries.set(key, entry)
    if (previous?.value === entry.value) return
    this.#listed = undefined
    if (previous !== undefined) this.#unindex(key, previous.value)
    this.#index(key, entry.value)
  }

  remove(key: string): void {
    const previous = this.entries.get(key)
    if (previous === undefined) return
    this.entries.delete(key)
    this.#listed = undefined
    this.#unindex(key, previous.value)
  }

  list(): readonly V[] {
    this.#listed ??= Array.from(this.entries.values(), (entry) => entry.value)
    return this.#listed
  }

  byIndex(name: string, value: string): readonly V[] {
    const keys = this.#keysByIndex.get(name)
    if (keys === undefined) throw new RangeError(`there is no index "${name}" on this cache`)
    return Array.from(keys.get(value) ?? [], (key) => (this.entries.get(key) as CacheEntry<V>).value)
  }

  #index(key: string, value: V): void {
    for (const [name, keysByValue] of this.#keysByIndex) {
      for (const indexed of this.#indexes[name]?.(value) ?? []) {
        const keys = keysByValue.get(indexed)
        if (keys === undefined) keysByValue.set(indexed, new Set([key]))
        else keys.add(key)
      }
    }
  }

  #unindex(key: string, value: V): void {
    for (const [name, keysByValue] of this.#keysByIndex) {
      for (const indexed of this.#indexes[name]?.(value) ?? []) {
        const keys = keysByValue.get(indexed)
        keys?.delete(key)
        if (keys?.size === 0) keysByValue.delete(indexed)
      }
    }
  }
}
