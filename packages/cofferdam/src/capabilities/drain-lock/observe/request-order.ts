/** A request that has not ended. */
interface OrderedRequest {
  readonly name: string
  readonly createdMs: number
}

/** Requests that have not ended, the oldest first; of one second, by name. */
export class RequestOrder {
  readonly #requests: OrderedRequest[] = []
  readonly #created = new Map<string, number>()

  add(request: OrderedRequest): void {
    const { name, createdMs } = request
    const before = this.#created.get(name)
    if (before === createdMs) return
    if (before !== undefined) this.remove(name)
    this.#created.set(name, createdMs)
    this.#requests.splice(this.#countBefore(request), 0, { name, createdMs })
  }

  remove(name: string): void {
    const createdMs = this.#created.get(name)
    if (createdMs === undefined) return
    this.#created.delete(name)
    this.#requests.splice(this.#countBefore({ name, createdMs }), 1)
  }

  /** How many are older; 0 for one that is not here. */
  aheadOf(name: string): number {
    const createdMs = this.#created.get(name)
    return createdMs === undefined ? 0 : this.#countBefore({ name, createdMs })
  }

  /** The oldest, so many of them. */
  *first(count: number): Generator<string> {
    for (const { name } of this.#requests.slice(0, count)) yield name
  }

  at(index: number): string | undefined {
    return this.#requests[index]?.name
  }

  #countBefore(request: OrderedRequest): number {
    let [low, high] = [0, this.#requests.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBefore(this.#requests[middle] as OrderedRequest, request)) low = middle + 1
      else high = middle
    }
    return low
  }
}

function isBefore(a: OrderedRequest, b: OrderedRequest): boolean {
  return a.createdMs === b.createdMs ? a.name < b.name : a.createdMs < b.createdMs
}
