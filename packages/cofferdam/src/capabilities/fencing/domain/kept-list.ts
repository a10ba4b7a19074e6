/** Something made of each element of a list, kept where an element stands as it stood. */
export class KeptList<T, R> {
  #items: readonly T[] = []
  #made: readonly R[] = []

  /** What was made before counts only where `mayKeep` says so; without it, everywhere. */
  of(items: readonly T[], make: (item: T) => R, mayKeep?: (item: T) => boolean): readonly R[] {
    const [before, known] = [this.#items, this.#made]
    if (items === before && mayKeep === undefined) return known
    this.#made = items.map((item, at) =>
      item === before[at] && mayKeep?.(item) !== false ? (known[at] as R) : make(item),
    )
    this.#items = items
    return this.#made
  }
}
