import { isWithin } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'

const firstWaitMs = 60_000
const longestWaitMs = 10 * 60_000

interface Refusal {
  readonly why: string
  readonly sinceMs: number
  readonly waitMs: number
}

/**
 * Pods whose removal was refused, by uid, and for how long they are not asked for again. Every attempt holds the storage for a
 * moment, which everybody else sees, so each refusal doubles the wait.
 */
export class HeldPods {
  readonly #clock: Clock
  readonly #refusals = new Map<string, Refusal>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(uid: string, why: string): void {
    const nowMs = this.#clock.now()
    const before = this.#refusals.get(uid)
    const waitMs = before === undefined ? firstWaitMs : Math.min(before.waitMs * 2, longestWaitMs)
    for (const [other, { sinceMs, waitMs: forMs }] of this.#refusals) {
      if (nowMs > sinceMs + forMs + longestWaitMs) this.#refusals.delete(other)
    }
    this.#refusals.set(uid, { why, waitMs, sinceMs: nowMs })
  }

  /** Undefined when it may be asked for. */
  whyHeld(uid: string): string | undefined {
    const refusal = this.#refusals.get(uid)
    return refusal !== undefined && isWithin(this.#clock.now(), refusal.sinceMs, refusal.waitMs)
      ? refusal.why
      : undefined
  }
}
