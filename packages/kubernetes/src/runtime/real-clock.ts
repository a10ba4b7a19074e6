import type { Clock } from './clock.ts'

export const realClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, callback) {
    // Node clamps longer delays to 1 ms, which would turn a far recheck into a hot loop.
    const timer = setTimeout(callback, Math.min(delayMs, 2 ** 31 - 1))
    return () => clearTimeout(timer)
  },
}

/** Starts now, and returns how many milliseconds have passed, in fractions that a clock does not have. */
export function startStopwatch(): () => number {
  const began = performance.now()
  return () => performance.now() - began
}
