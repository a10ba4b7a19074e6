import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { damagedTexts } from './damage.ts'
import { findHarm } from './find-harm.ts'
import { targets } from './targets/targets.ts'

/** Set by `npm run fuzz`. */
const runs = Number(process.env['COFFERDAM_FUZZ_RUNS'] ?? 100)
const corpus = join(import.meta.dirname, 'corpus')
const kept = readdirSync(corpus).map((file) => [file, readFileSync(join(corpus, file), 'utf8')] as const)

describe.each(Object.entries(targets))('the parser of %s', (_, target) => {
  it('takes whole texts', () => {
    for (const seed of target.seeds) expect(findHarm({ ...target, mayThrow: () => false }, seed)).toBeUndefined()
  })

  it('refuses damaged ones in its own way: one that throws anything else stops whoever reads it', () => {
    fc.assert(
      fc.property(damagedTexts(target.seeds), (text) => {
        expect(findHarm(target, text)).toBeUndefined()
      }),
      { numRuns: runs },
    )
  })

  it.each(kept)('survives %s, which harmed a parser once or could', (_file, text) => {
    expect(findHarm(target, text)).toBeUndefined()
  })
})

it('a parser that throws, and one that pollutes every object, are found out', () => {
  const throwing = {
    seeds: [],
    parse: () => {
      throw new TypeError('no')
    },
  }
  const polluting = {
    seeds: [],
    parse: () =>
      Object.defineProperty(Object.prototype, 'polluted', { value: 1, enumerable: true, configurable: true }),
  }
  expect(findHarm(throwing, '')).toContain('it threw TypeError: no')
  expect(findHarm(polluting, '')).toBe('it gave every object the field polluted')
  expect(Object.keys(Object.prototype)).toEqual([])
})
