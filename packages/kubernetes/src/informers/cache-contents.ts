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
    for (const [name, valuesOf] of Object.entries(this.#indexes)) {
      this.#reindex(name, key, previous === undefined ? [] : valuesOf(previous.value), valuesOf(entry.value))
    }
  }

  remove(key: string): void {
    const previous = this.entries.get(key)
    if (previous === undefined) return
    this.entries.delete(key)
    this.#listed = undefined
    for (const [name, valuesOf] of Object.entries(this.#indexes)) {
      this.#reindex(name, key, valuesOf(previous.value), [])
    }
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

  /** Where the value stays the same so does the key: taken out and put in, a second text of it would stay beside that of `entries`. */
  #reindex(name: string, key: string, before: readonly string[], after: readonly string[]): void {
    const byValue = this.#keysByIndex.get(name) as Map<string, Indexed<V>>
    for (const value of before) {
      const found = byValue.get(value)
      if (found === undefined) continue
      found.listed = undefined
      if (after.includes(value)) continue
      found.keys.delete(key)
      if (found.keys.size === 0) byValue.delete(value)
    }
    for (const value of after) {
      const found = byValue.get(value)
      if (found === undefined) byValue.set(value, { keys: new Set([key]), listed: undefined })
      else if (!found.keys.has(key)) {
        found.keys.add(key)
        found.listed = undefined
      }
    }
  }
}
