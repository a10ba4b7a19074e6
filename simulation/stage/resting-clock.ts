import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'

/** A clock for what lives in the cluster: while it rests, heartbeats and resyncs wait, so that a quiet day costs little. */
export interface RestingClock extends Clock {
  rest(): void
  wake(): void
}

export function createRestingClock(clock: Clock): RestingClock {
  let isResting = false
  let held: (() => void)[] = []
  return {
    now: () => clock.now(),
    after(delayMs, callback) {
      let isCancelled = false
      const ring = () => {
        if (isCancelled) return
        if (isResting) held.push(ring)
        else callback()
      }
      const cancel = clock.after(delayMs, ring)
      return () => {
        isCancelled = true
        cancel()
      }
    },
    rest() {
      isResting = true
    },
    wake() {
      isResting = false
      const late = held
      held = []
      for (const ring of late) ring()
    },
  }
}
