/** One of a kind: two equal values of a pool are the same object, so a state is a handful of numbers. */
export interface Pooled<T> {
  readonly id: number
  readonly value: T
  /** Bit `n - 1` is set when epoch `n` occurs in it. */
  readonly epochs: number
}

export interface Pool<T> {
  of(value: T): Pooled<T>
  at(id: number): Pooled<T>
  readonly size: number
}

export function createPool<T>(keyOf: (value: T) => string, epochsOf: (value: T) => number = () => 0): Pool<T> {
  const byKey = new Map<string, Pooled<T>>()
  const all: Pooled<T>[] = []
  return {
    of(value) {
      const key = keyOf(value)
      let pooled = byKey.get(key)
      if (pooled === undefined) {
        pooled = { id: all.length, value, epochs: epochsOf(value) }
        byKey.set(key, pooled)
        all.push(pooled)
      }
      return pooled
    },
    at: (id) => all[id] as Pooled<T>,
    get size() {
      return all.length
    },
  }
}

export function epochBit(epoch: number | undefined): number {
  return epoch === undefined || epoch < 1 ? 0 : 1 << (epoch - 1)
}
