export interface InOrder<T> {
  add(number: number, item: T): void
  /** Nothing more comes: what is left follows, without what is missing. */
  end(): void
}

/** Passes numbered items on in the order of their numbers, each as soon as all before it have been passed on. */
export function createInOrder<T>(first: number, pass: (item: T) => void): InOrder<T> {
  const waiting = new Map<number, T>()
  let next = first
  const passOn = (number: number) => {
    pass(waiting.get(number) as T)
    waiting.delete(number)
  }
  return {
    add(number, item) {
      waiting.set(number, item)
      while (waiting.has(next)) passOn(next++)
    },
    end() {
      for (const number of [...waiting.keys()].sort((a, b) => a - b)) passOn(number)
    },
  }
}
