/** Items by a key, each group in the order of the names, whatever the order they came in. */
export class Grouped<T extends { readonly name: string }> {
  readonly #groups = new Map<string, T[]>()
  readonly #keysOf: (item: T) => string | readonly string[]

  /** @param keysOf one key, or several, or none */
  constructor(keysOf: (item: T) => string | readonly string[]) {
    this.#keysOf = keysOf
  }

  of(key: string): readonly T[] {
    return this.#groups.get(key) ?? []
  }

  add(item: T): void {
    const keys = this.#keysOf(item)
    if (typeof keys === 'string') this.#addTo(keys, item)
    else for (const key of keys) this.#addTo(key, item)
  }

  remove(item: T): void {
    const keys = this.#keysOf(item)
    if (typeof keys === 'string') this.#removeFrom(keys, item)
    else for (const key of keys) this.#removeFrom(key, item)
  }

  #addTo(key: string, item: T): void {
    const group = this.#groups.get(key)
    if (group === undefined) this.#groups.set(key, [item])
    else insert(group, item)
  }

  #removeFrom(key: string, item: T): void {
    const group = this.#groups.get(key)
    const at = group?.indexOf(item) ?? -1
    if (group === undefined || at < 0) return
    if (group.length === 1) this.#groups.delete(key)
    else group.splice(at, 1)
  }
}

/** What is listed comes in order as a rule, and then belongs at the end. */
function insert<T extends { readonly name: string }>(group: T[], item: T): void {
  const last = group.at(-1)
  if (last !== undefined && last.name < item.name) group.push(item)
  else group.splice(placeOf(group, item.name), 0, item)
}

function placeOf(group: readonly { readonly name: string }[], name: string): number {
  let [low, high] = [0, group.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((group[middle] as { readonly name: string }).name < name) low = middle + 1
    else high = middle
  }
  return low
}
