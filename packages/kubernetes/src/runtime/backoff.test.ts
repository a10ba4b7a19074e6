import { expect, it } from 'vitest'
import { backoffDelayMs } from './backoff.ts'
import { type Random, seededRandom } from './random.ts'

const policy = { firstMs: 100, longestMs: 10_000 }

it('waits longer after each failure, and never longer than the longest wait', () => {
  const least: Random = { next: () => 0, stream: () => least }
  expect([1, 2, 3, 8, 9, 1_000].map((failures) => backoffDelayMs(failures, policy, least))).toEqual([
    50, 100, 200, 5_000, 5_000, 5_000,
  ])
})

it('spreads two callers who failed at the same moment', () => {
  const random = seededRandom(1)
  expect(backoffDelayMs(5, policy, random)).not.toBe(backoffDelayMs(5, policy, random))
})
