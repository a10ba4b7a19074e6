import { describe, expect, it } from 'vitest'
import { parseQuantity, quantityNumber } from './quantity.ts'

const readable: Record<string, bigint> = {
  '1': 1_000_000_000n,
  '500m': 500_000_000n,
  '0.1': 100_000_000n,
  '.5': 500_000_000n,
  '5.': 5_000_000_000n,
  '1n': 1n,
  '0.1n': 1n,
  '-2k': -2_000_000_000_000n,
  '1Ki': 1_024_000_000_000n,
  '1e3': 1_000_000_000_000n,
  '12E2': 1_200_000_000_000n,
  '1E': 10n ** 27n,
  '9007199254740993': 9_007_199_254_740_993_000_000_000n,
}

describe('a quantity', () => {
  it.each(Object.entries(readable))('%s is exactly %s billionths', (text, expected) => {
    expect(parseQuantity(text)).toBe(expected)
  })

  it.each(['', '.', 'abc', '1 Gi', '1gi', '1.2.3', '0x10', '1KiB'])('"%s" is refused, and named', (text) => {
    expect(() => parseQuantity(text)).toThrow(`"${text}" is not a quantity`)
  })

  it('reads as a plain number where exactness does not matter', () => {
    expect(quantityNumber('250m')).toBe(0.25)
  })
})
