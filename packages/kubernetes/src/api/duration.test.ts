import { expect, it } from 'vitest'
import { parseDuration } from './duration.ts'

it.each([
  ['2h', 7_200_000],
  ['1h30m', 5_400_000],
  ['90s', 90_000],
  ['', undefined],
  ['2', undefined],
  ['1.5h', undefined],
  ['30m1h', undefined],
])('the duration %j is %j ms', (text, ms) => expect(parseDuration(text)).toBe(ms))
