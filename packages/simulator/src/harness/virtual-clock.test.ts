import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { expect, it } from 'vitest'
import { VirtualClock } from './virtual-clock.ts'

it('fires timers by time, then by the order in which they were set', async () => {
  const clock = new VirtualClock(0)
  const fired: string[] = []
  clock.after(20, () => fired.push(`late at ${clock.now()}`))
  clock.after(10, () => fired.push(`first at ${clock.now()}`))
  clock.after(10, () => fired.push(`second at ${clock.now()}`))
  const cancel = clock.after(15, () => fired.push('cancelled'))
  cancel()
  await clock.advance(100)
  expect(fired).toEqual(['first at 10', 'second at 10', 'late at 20'])
  expect(clock.now()).toBe(100)
})

it('lets a chain of promises settle before time moves on', async () => {
  const clock = new VirtualClock(0)
  const seen: number[] = []
  const worker = async () => {
    for (let at = 0; at < 3; at += 1) {
      await sleep(clock, 10)
      await Promise.resolve()
      seen.push(clock.now())
    }
  }
  void worker()
  await clock.advance(25)
  expect(seen).toEqual([10, 20])
})

it('stops at the first moment at which a condition holds, and says when it never did', async () => {
  const clock = new VirtualClock(0)
  let ready = false
  clock.after(50, () => {
    ready = true
  })
  expect(await clock.advanceUntil(() => ready, 1_000)).toBe(true)
  expect(clock.now()).toBe(50)
  expect(await clock.advanceUntil(() => !ready, 1_000)).toBe(false)
  expect(clock.now()).toBe(1_050)
})

it('keeps thousands of timers in order', async () => {
  const clock = new VirtualClock(0)
  const fired: number[] = []
  for (let at = 0; at < 5_000; at += 1) clock.after((at * 7_919) % 5_003, () => fired.push(clock.now()))
  await clock.advance(6_000)
  expect(fired).toEqual([...fired].sort((a, b) => a - b))
  expect(fired).toHaveLength(5_000)
})
