import { createHash } from 'node:crypto'
import { sha256 } from '@cofferdam/product/shared/sha256.ts'
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

it('digests are those of SHA-256', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 150 }), (text) => {
      expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'))
    }),
  )
})
