import { type BackoffPolicy, backoffDelayMs } from './backoff.ts'
import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

export interface WorkQueueOptions {
  readonly clock: Clock
  readonly random: Random
  readonly backoff?: BackoffPolicy
}

const defaultBackoff: BackoffPolicy = { firstMs: 200, longestMs: 5 * 60_000 }

/**
 * Keys that need work.
 *
 * Guarantees: a key waits at most once however often it is added; a key is never handed to two workers at a time; a key
 * added while it is worked on is handed out again afterwards; of several times asked for, the earliest counts.
 */
export class WorkQueue {
  readonly #clock: Clock
  readonly #random: Random
  readonly #backoff: BackoffPolicy
  /** In the order in which they are handed out. */
  readonly #ready = new Set<string>()
  readonly #inWork = new Set<string>()
  readonly #addedWhileInWork = new Set<string>()
  readonly #later = new Map<string, { readonly at: number; readonly cancel: () => void }>()
  readonly #failures = new Map<string, number>()
  readonly #takers: ((key: string | undefined) => void)[] = []
  #closed = false

  constructor({ clock, random, backoff = defaultBackoff }: WorkQueueOptions) {
    this.#clock = clock
    this.#random = random
    this.#backoff = backoff
  }

  /** How many wait to be taken now. */
  get depth(): number {
    return this.#ready.size
  }

  add(key: string): void {
    if (this.#closed) return
    this.#takeBackLater(key)
    if (this.#inWork.has(key)) {
      this.#addedWhileInWork.add(key)
      return
    }
    const taker = this.#ready.has(key) ? undefined : this.#takers.shift()
    if (taker === undefined) {
      this.#ready.add(key)
    } else {
      this.#inWork.add(key)
      taker(key)
    }
  }

  addAfter(key: string, delayMs: number): void {
    if (this.#closed) return
    if (delayMs <= 0) {
      this.add(key)
      return
    }
    if (this.#ready.has(key)) return
    const at = this.#clock.now() + delayMs
    const waiting = this.#later.get(key)
    if (waiting !== undefined && waiting.at <= at) return
    waiting?.cancel()
    const cancel = this.#clock.after(delayMs, () => {
      this.#later.delete(key)
      this.add(key)
    })
    this.#later.set(key, { at, cancel })
  }

  /** Adds the key again after a wait that grows with each failure in a row; returns the wait. */
  addAfterFailure(key: string): number {
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    const delayMs = backoffDelayMs(failures, this.#backoff, this.#random)
    this.addAfter(key, delayMs)
    return delayMs
  }

  /** The next failure of this key counts as its first. */
  forgetFailures(key: string): void {
    this.#failures.delete(key)
  }

  /** The next key, or undefined once the queue is closed. Whoever takes a key must return it with `done`. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined)
    for (const key of this.#ready) {
      this.#ready.delete(key)
      this.#inWork.add(key)
      return Promise.resolve(key)
    }
    return new Promise((resolve) => this.#takers.push(resolve))
  }

  done(key: string): void {
    this.#inWork.delete(key)
    if (this.#addedWhileInWork.delete(key)) this.add(key)
  }

  /** Hands out nothing more. What is in work may still be returned. */
  close(): void {
    this.#closed = true
    for (const { cancel } of this.#later.values()) cancel()
    this.#later.clear()
    this.#ready.clear()
    for (const taker of this.#takers.splice(0)) taker(undefined)
  }

  #takeBackLater(key: string): void {
    this.#later.get(key)?.cancel()
    this.#later.delete(key)
  }
}
