/** Items by a key, each group in the order of the names, whatever the order they came in. */
export class Grouped<T extends { readonly name: string }> {
  readonly #groups = new Map<string, T[]>()
  readonly #keysOf: (item: T) => readonly string[]

  constructor(keysOf: (item: T) => readonly string[]) {
    this.#keysOf = keysOf
  }

  of(key: string): readonly T[] {
    return this.#groups.get(key) ?? []
  }

  add(item: T): void {
    for (const key of this.#keysOf(item)) {
      const group = this.#groups.get(key)
      if (group === undefined) this.#groups.set(key, [item])
      else insert(group, item)
    }
  }

  remove(item: T): void {
    for (const key of this.#keysOf(item)) {
      const group = this.#groups.get(key)
      const at = group?.indexOf(item) ?? -1
      if (group === undefined || at < 0) continue
      if (group.length === 1) this.#groups.delete(key)
      else group.splice(at, 1)
    }
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
