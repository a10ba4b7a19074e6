export interface CacheEntry<V> {
  readonly value: V
  readonly uid: string
  readonly resourceVersion: string
}

export type Indexes<V> = Readonly<Record<string, (value: V) => readonly string[]>>

interface Indexed<V> {
  readonly keys: Set<string>
  /** What `byIndex` answers, until one of them changes. */
  listed: readonly V[] | undefined
}

/** Entries by key, and the keys by each index. Plain bookkeeping: what is old or new is decided elsewhere. */
export class CacheContents<V> {
  readonly entries = new Map<string, CacheEntry<V>>()
  readonly #indexes: Indexes<V>
  readonly #keysByIndex = new Map<string, Map<string, Indexed<V>>>()
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
    const indexed = keys.get(value)
    if (indexed === undefined) return []
    indexed.listed ??= Array.from(indexed.keys, (key) => (this.entries.get(key) as CacheEntry<V>).value)
    return indexed.listed
  }

  #index(key: string, value: V): void {
    for (const [name, keysByValue] of this.#keysByIndex) {
      for (const indexed of this.#indexes[name]?.(value) ?? []) {
        const found = keysByValue.get(indexed)
        if (found === undefined) keysByValue.set(indexed, { keys: new Set([key]), listed: undefined })
        else {
          found.keys.add(key)
          found.listed = undefined
        }
      }
    }
  }

  #unindex(key: string, value: V): void {
    for (const [name, keysByValue] of this.#keysByIndex) {
      for (const indexed of this.#indexes[name]?.(value) ?? []) {
        const found = keysByValue.get(indexed)
        if (found === undefined) continue
        found.keys.delete(key)
        found.listed = undefined
        if (found.keys.size === 0) keysByValue.delete(indexed)
      }
    }
  }
}
