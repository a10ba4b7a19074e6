import { describe, expect, it } from 'vitest'
import { osdsInParallel, parallelLimitText, parseParallelLimit } from './parallel-limit.ts'

describe('how many OSDs may be updated at once', () => {
  it.each([
    { given: 1, osds: 100, atOnce: 1 },
    { given: 4, osds: 100, atOnce: 4 },
    { given: 400, osds: 100, atOnce: 400 },
    { given: '15%', osds: 100, atOnce: 15 },
    { given: '15%', osds: 99, atOnce: 14 },
    { given: '15%', osds: 6, atOnce: 1 },
    { given: '1%', osds: 0, atOnce: 1 },
    { given: '100%', osds: 12, atOnce: 12 },
    { given: '29%', osds: 100, atOnce: 29 },
  ])('$given of $osds OSDs are $atOnce', ({ given, osds, atOnce }) => {
    const limit = parseParallelLimit(given)
    expect(limit && osdsInParallel(limit, osds)).toBe(atOnce)
    expect(limit && parallelLimitText(limit)).toBe(String(given))
  })

  it.each([
    0,
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '0%',
    '101%',
    '150%',
    '-5%',
    '1.5%',
    'abc',
    '4',
    '',
    '%',
    ' 5%',
    true,
    null,
    {},
  ])('%j is no limit', (given) => {
    expect(parseParallelLimit(given)).toBeUndefined()
  })
})
