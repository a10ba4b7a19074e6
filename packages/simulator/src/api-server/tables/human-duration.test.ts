import { describe, expect, it } from 'vitest'
import { humanDuration, timeSince } from './human-duration.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const year = 365 * day

describe('a duration reads as in kubectl', () => {
  const cases: Record<string, number> = {
    '<invalid>': -2 * second,
    '0s': -1.5 * second,
    '1s': 1.9 * second,
    '119s': 119 * second,
    '2m': 2 * minute,
    '5m30s': 5 * minute + 30 * second,
    '9m59s': 10 * minute - second,
    '10m': 10 * minute + 59 * second,
    '179m': 179 * minute,
    '3h': 3 * hour,
    '3h2m': 3 * hour + 2 * minute,
    '8h': 8 * hour + 30 * minute,
    '47h': 47 * hour + 59 * minute,
    '2d': 2 * day,
    '2d4h': 2 * day + 4 * hour,
    '8d': 8 * day + 23 * hour,
    '729d': 729 * day,
    '2y': 2 * year,
    '2y10d': 2 * year + 10 * day,
    '8y': 8 * year + 100 * day,
  }
  for (const [text, durationMs] of Object.entries(cases)) {
    it(`${durationMs} ms are ${text}`, () => expect(humanDuration(durationMs)).toBe(text))
  }
})

it('a time that was never set has an unknown age', () => {
  expect([timeSince(undefined, 0), timeSince(null, 0), timeSince('not a time', 0)]).toEqual([
    '<unknown>',
    '<unknown>',
    '<unknown>',
  ])
})
