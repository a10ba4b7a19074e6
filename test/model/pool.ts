/** One of a kind: two equal values of a pool are the same object, so a state is a handful of numbers. */
export interface Pooled<T> {
  readonly id: number
  readonly value: T
  /** Bit `n - 1` is set when epoch `n` occurs in it. */
  readonly epochs: number
}

/** No pool holds more, so that numbers of parts can be put together into one. */
export const idSpan = 2 ** 20

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
        if (pooled.id >= idSpan) throw new Error('more parts than their numbers have room for')
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

/** That are told apart at any one time. */
export const mostEpochs = 16

export function epochBit(epoch: number | undefined): number {
  if (epoch === undefined || epoch < 1) return 0
  if (epoch > mostEpochs) throw new Error('more epochs at once than there are bits for them')
  return 1 << (epoch - 1)
}
