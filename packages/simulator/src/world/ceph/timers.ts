import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'

export interface Timers extends Clock {
  /** Takes back all that still waits; nothing can be set after. */
  stop(): void
}

/** A clock whose waits all end together; it notifies after each. */
export function createTimers(clock: Clock, onFired: () => void = () => {}): Timers {
  const waiting = new Set<() => void>()
  let stopped = false
  return {
    now: () => clock.now(),
    after(delayMs, callback) {
      if (stopped) return () => {}
      const forget = () => {
        cancel()
        waiting.delete(forget)
      }
      const cancel = clock.after(delayMs, () => {
        waiting.delete(forget)
        try {
          callback()
        } finally {
          onFired()
        }
      })
      waiting.add(forget)
      return forget
    },
    stop() {
      stopped = true
      for (const forget of waiting) forget()
    },
  }
}
