/** Something made of each element of a list, kept where an element stands as it stood. */
export class KeptList<T, R> {
  #items: readonly T[] = []
  #made: readonly R[] = []

  /** What was made before counts only where `mayKeep` says so. */
  of(items: readonly T[], make: (item: T) => R, mayKeep: (item: T) => boolean = () => true): readonly R[] {
    const [before, known] = [this.#items, this.#made]
    this.#made = items.map((item, at) => (item === before[at] && mayKeep(item) ? (known[at] as R) : make(item)))
    this.#items = items
    return this.#made
  }
}
