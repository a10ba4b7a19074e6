import { describe, expect, it } from 'vitest'
import { type Clock, momentOf, passedMs } from './clock.ts'

/** Both hands of a clock, set by hand. */
function setByHand() {
  const hands = { nowMs: 1_000_000, elapsedMs: 5_000 }
  const clock: Clock = { now: () => hands.nowMs, elapsed: () => hands.elapsedMs, after: () => () => {} }
  return { hands, clock }
}

describe('what has passed since a moment', () => {
  it('is what really passed where the clock was turned back: a token would not be read again until it has caught up', () => {
    const { hands, clock } = setByHand()
    const since = momentOf(clock)
    hands.nowMs -= 86_400_000
    hands.elapsedMs += 10_000
    expect(passedMs(clock, since)).toBe(10_000)
  })

  it('is what the clock says where the machine slept: what was heard before counts as old', () => {
    const { hands, clock } = setByHand()
    const since = momentOf(clock)
    hands.nowMs += 3_600_000
    expect(passedMs(clock, since)).toBe(3_600_000)
  })
})
