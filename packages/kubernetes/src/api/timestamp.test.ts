import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseRfc3339, rfc3339 } from './timestamp.ts'

it('times are written and read as everybody does', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), (seconds) => {
      const usual = new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
      expect(rfc3339(seconds * 1000 + 999)).toBe(usual)
      expect(parseRfc3339(usual)).toBe(seconds * 1000)
    }),
  )
  expect(parseRfc3339('2026-01-01T02:30:00.25+02:00')).toBe(Date.parse('2026-01-01T00:30:00.25Z'))
  expect(['', 'yesterday', '2026-13-01T00:00:00Z', '2026-01-01'].map(parseRfc3339)).toEqual(Array(4).fill(undefined))
})

it('the time that Go writes for never is long ago, and not a hundred years', () => {
  expect(parseRfc3339('0001-01-01T00:00:00Z')).toBe(-62_135_596_800_000)
  expect(parseRfc3339('2016-12-31T23:59:60Z')).toBe(Date.parse('2017-01-01T00:00:00Z'))
})
