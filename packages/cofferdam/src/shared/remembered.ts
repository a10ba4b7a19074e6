interface Entry {
  readonly from: readonly unknown[]
  readonly made: unknown
}

/** What was made of an object, kept as long as the object and all else it was made from are the same. */
export class Remembered {
  readonly #entries = new WeakMap<object, Entry>()

  /** `from` is compared element by element by identity, so it holds objects or plain values. */
  make<T>(object: object, from: readonly unknown[], build: () => T): T {
    const entry = this.#entries.get(object)
    if (entry?.from.every((value, at) => Object.is(value, from[at])) === true) return entry.made as T
    const made = build()
    this.#entries.set(object, { from, made })
    return made
  }
}
