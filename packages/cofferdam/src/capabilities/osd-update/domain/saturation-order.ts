/** Units waiting for a class, the one with the fewest classes left to it first; ties by number of edges, then by number. */
export class SaturationOrder {
  /** How many classes each unit is kept out of. */
  readonly saturation: Int32Array
  readonly #degrees: Int32Array
  readonly #heap: Int32Array
  /** -1 once it is taken. */
  readonly #positions: Int32Array
  #length: number

  constructor(unitStarts: Int32Array) {
    const count = unitStarts.length - 1
    this.saturation = new Int32Array(count)
    this.#degrees = Int32Array.from(
      { length: count },
      (_, unit) => (unitStarts[unit + 1] as number) - (unitStarts[unit] as number),
    )
    this.#heap = Int32Array.from({ length: count }, (_, unit) => unit)
    this.#heap.sort((a, b) => (this.#isBefore(a, b) ? -1 : 1))
    this.#positions = new Int32Array(count)
    for (let at = 0; at < count; at += 1) this.#positions[this.#heap[at] as number] = at
    this.#length = count
  }

  isWaiting(unit: number): boolean {
    return (this.#positions[unit] as number) >= 0
  }

  raise(unit: number): void {
    this.saturation[unit] = (this.saturation[unit] as number) + 1
    this.#up(this.#positions[unit] as number)
  }

  take(): number | undefined {
    if (this.#length === 0) return undefined
    const first = this.#heap[0] as number
    this.#length -= 1
    const last = this.#heap[this.#length] as number
    this.#positions[first] = -1
    if (this.#length > 0) {
      this.#put(last, 0)
      this.#down()
    }
    return first
  }

  #isBefore(a: number, b: number): boolean {
    const more = (this.saturation[a] as number) - (this.saturation[b] as number)
    if (more !== 0) return more > 0
    const edges = (this.#degrees[a] as number) - (this.#degrees[b] as number)
    return edges !== 0 ? edges > 0 : a < b
  }

  #put(unit: number, at: number): void {
    this.#heap[at] = unit
    this.#positions[unit] = at
  }

  #up(from: number): void {
    const unit = this.#heap[from] as number
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = this.#heap[parent] as number
      if (!this.#isBefore(unit, above)) break
      this.#put(above, at)
      at = parent
    }
    this.#put(unit, at)
  }

  #down(): void {
    const unit = this.#heap[0] as number
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= this.#length) break
      if (child + 1 < this.#length && this.#isBefore(this.#heap[child + 1] as number, this.#heap[child] as number))
        child += 1
      const below = this.#heap[child] as number
      if (!this.#isBefore(below, unit)) break
      this.#put(below, at)
      at = child
    }
    this.#put(unit, at)
  }
}
