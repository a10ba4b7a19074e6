import type { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'

const mostMs = 30_000

/** Lets just as much time pass as a promise needs; what lives in the cluster beside it is about to end anyway. */
export async function settled(clock: VirtualClock, promise: Promise<unknown>): Promise<void> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  promise.then(over, over)
  await clock.advanceUntil(() => isOver, mostMs)
  await promise
}
