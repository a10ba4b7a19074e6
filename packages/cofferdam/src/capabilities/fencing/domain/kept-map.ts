/** A map of a list that comes again and again with few changes; it is changed in place, and only where the list was. */
export class KeptMap<T> {
  readonly #keyOf: (item: T) => string | undefined
  #items: readonly T[] = []
  #map = new Map<string, T>()

  constructor(keyOf: (item: T) => string | undefined) {
    this.#keyOf = keyOf
  }

  /** Of two items with the same key the later counts. */
  of(items: readonly T[]): ReadonlyMap<string, T> {
    const before = this.#items
    if (items === before) return this.#map
    this.#items = items
    const isAlike =
      items.length === before.length &&
      items.every((item, at) => item === before[at] || this.#keyOf(item) === this.#keyOf(before[at] as T))
    if (!isAlike) this.#map = new Map()
    items.forEach((item, at) => {
      if (isAlike && item === before[at]) return
      const key = this.#keyOf(item)
      if (key === undefined) return
      // Where keys are not unique it may be an earlier one that changed, and that does not count.
      if (!isAlike || this.#map.get(key) === before[at]) this.#map.set(key, item)
    })
    return this.#map
  }
}
