import { describe, expect, it } from 'vitest'
import { canonicalQuantity, parseQuantity, quantityNumber } from './quantity.ts'

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

/** As a real API server answered them. */
const kept: Record<string, string> = {
  '0.5': '500m',
  '1000m': '1',
  '1500': '1500',
  '1000': '1k',
  '0': '0',
  '0.0Gi': '0',
  '1024Mi': '1Gi',
  '1.5Gi': '1536Mi',
  '16777216Ki': '16Gi',
  '0.1Ki': '102400m',
  '1023Mi': '1023Mi',
  '0.5Ki': '512',
  '1e3': '1e3',
  '1000e3': '1e6',
  '12E2': '1200',
  '250m': '250m',
  '4Gi': '4Gi',
}

describe('a quantity', () => {
  it.each(Object.entries(kept))('%s is kept as %s', (text, expected) => {
    expect(canonicalQuantity(text)).toBe(expected)
  })

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
