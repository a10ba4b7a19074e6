import { describe, expect, it } from 'vitest'
import { estimateMove } from './estimate-move.ts'

const nowMs = 1_000_000

describe('the estimate of a move', () => {
  it.each<[string, Parameters<typeof estimateMove>[0], ReturnType<typeof estimateMove>]>([
    [
      'three quarters in thirty seconds leave ten seconds for the rest',
      { moving: { sinceMs: nowMs - 30_000, bytes: 4_000 }, bytesLeft: 1_000, nowMs },
      { bytesPerSecond: 100, secondsLeft: 10 },
    ],
    [
      'what has arrived needs no more time',
      { moving: { sinceMs: nowMs - 10_000, bytes: 1_000 }, bytesLeft: 0, nowMs },
      { bytesPerSecond: 100, secondsLeft: 0 },
    ],
    [
      'a part of a second counts as a whole one, so that nothing is promised too early',
      { moving: { sinceMs: nowMs - 1_000, bytes: 1_000 }, bytesLeft: 400, nowMs },
      { bytesPerSecond: 600, secondsLeft: 1 },
    ],
    ['without a record there is no estimate', { moving: undefined, bytesLeft: 1_000, nowMs }, undefined],
    [
      'while nothing has moved there is no estimate',
      { moving: { sinceMs: nowMs - 1_000, bytes: 1_000 }, bytesLeft: 1_000, nowMs },
      undefined,
    ],
    [
      'where more is left than there was at first, since others joined, there is no estimate',
      { moving: { sinceMs: nowMs - 1_000, bytes: 1_000 }, bytesLeft: 2_000, nowMs },
      undefined,
    ],
    [
      'a record from the future, by another clock, tells nothing',
      { moving: { sinceMs: nowMs + 1_000, bytes: 1_000 }, bytesLeft: 500, nowMs },
      undefined,
    ],
  ])('%s', (_, seen, expected) => {
    expect(estimateMove(seen)).toEqual(expected)
  })
})
