import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'

interface Timer {
  readonly at: number
  readonly order: number
  readonly callback: () => void
  cancelled: boolean
}

/**
 * A clock that stands still until it is run, and then jumps from timer to timer.
 *
 * Guarantees: timers fire by time, then by the order in which they were set; between two timers every promise that can
 * settle has settled. So a program that takes all its time and chance from outside runs the same way each time.
 * Assumes: nothing that runs on it waits for real I/O.
 */
export class VirtualClock implements Clock {
  #now: number
  #order = 0
  // A binary heap: a large cluster keeps tens of thousands of timers.
  readonly #heap: Timer[] = []

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#now = startMs
  }

  now(): number {
    return this.#now
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer: Timer = { at: this.#now + Math.max(0, delayMs), order: this.#order++, callback, cancelled: false }
    this.#push(timer)
    return () => {
      timer.cancelled = true
    }
  }

  /** When the next timer fires, or undefined when nobody waits. */
  nextAt(): number | undefined {
    this.#dropCancelled()
    return this.#heap[0]?.at
  }

  /** Runs all that happens in the next `durationMs`. */
  async advance(durationMs: number): Promise<void> {
    const end = this.#now + durationMs
    await settle()
    for (let at = this.nextAt(); at !== undefined && at <= end; at = this.nextAt()) {
      await this.#fireNext()
    }
    this.#now = end
  }

  /**
   * The time is later at once, as for a machine that was suspended: whatever was due meanwhile fires once, in its order, and finds the
   * clock at the end. What that sets anew counts from there.
   */
  async leap(durationMs: number): Promise<void> {
    await settle()
    this.#now += durationMs
    await this.advance(0)
  }

  /** Runs until the condition holds or the time is used up; returns whether it held. */
  async advanceUntil(condition: () => boolean, withinMs: number): Promise<boolean> {
    const end = this.#now + withinMs
    await settle()
    while (!condition()) {
      const at = this.nextAt()
      if (at === undefined || at > end) {
        this.#now = end
        return condition()
      }
      await this.#fireNext()
    }
    return true
  }

  async #fireNext(): Promise<void> {
    const timer = this.#pop()
    if (timer === undefined) return
    this.#now = Math.max(this.#now, timer.at)
    timer.callback()
    await settle()
  }

  #dropCancelled(): void {
    while (this.#heap[0]?.cancelled) this.#pop()
  }

  #push(timer: Timer): void {
    const heap = this.#heap
    let at = heap.push(timer) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(timer, heap[parent] as Timer)) break
      heap[at] = heap[parent] as Timer
      at = parent
    }
    heap[at] = timer
  }

  #pop(): Timer | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Timer, heap[child] as Timer)) child += 1
      if (!isBefore(heap[child] as Timer, last)) break
      heap[at] = heap[child] as Timer
      at = child
    }
    heap[at] = last
    return first
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

/** Lets every promise settle that can: a macrotask runs only when no microtask is left. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
