import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import { HeldPods } from './held-pods.ts'

it('a pod that was refused is left in peace for a minute, then twice as long each time, and no longer than ten', async () => {
  const clock = new VirtualClock()
  const held = new HeldPods(clock)
  expect(held.whyHeld('a')).toBeUndefined()
  const waits: number[] = []
  for (let attempt = 0; attempt < 6; attempt += 1) {
    held.note('a', 'no')
    let seconds = 0
    for (; held.whyHeld('a') === 'no'; seconds += 10) await clock.advance(10_000)
    waits.push(seconds)
  }
  expect([waits, held.whyHeld('b')]).toEqual([[60, 120, 240, 480, 600, 600], undefined])
})

it('a pod that was not asked for in a long time begins anew', async () => {
  const clock = new VirtualClock()
  const held = new HeldPods(clock)
  for (const uid of ['a', 'a', 'a']) held.note(uid, 'no')
  await clock.advance(3_600_000)
  held.note('b', 'no')
  held.note('a', 'no')
  await clock.advance(60_000)
  expect(held.whyHeld('a')).toBeUndefined()
})

it('a pod that was refused is asked for again when the clock was turned back, or its update would wait until it has caught up', async () => {
  const skew = { ms: 86_400_000 }
  const clock = new VirtualClock()
  const held = new HeldPods({ now: () => clock.now() + skew.ms, after: (ms, call) => clock.after(ms, call) })
  held.note('a', 'no')
  skew.ms = 0
  expect(held.whyHeld('a')).toBeUndefined()
})
