import { describe, expect, it } from 'vitest'
import type { CrashRun } from './crash-scenario.ts'
import { faultsOfReference, faultsOfRun, parsePoint, pointsOf, pointText } from './judge-run.ts'

const reference: CrashRun = {
  written: ['patch nodes node-1 ', 'create pods shop/web-1 eviction'],
  hasDied: false,
  violations: [],
  end: ['nodes /node-1 {}', 'noout: '],
}
const point = { write: 2, moment: 'unheard', restart: 'stale' } as const
const died: CrashRun = { ...reference, hasDied: true }

describe('the points of a run', () => {
  it('are all of its writes, each in three moments and followed by a process of either kind', () => {
    expect(pointsOf(reference)).toHaveLength(2 * 3 * 2)
    expect(new Set(pointsOf(reference).map(pointText)).size).toBe(12)
  })

  it('are read as they are printed, so that a failure can be replayed', () => {
    for (const one of pointsOf(reference)) expect(parsePoint(pointText(one))).toEqual(one)
    for (const text of ['', '0/before/fresh', '1/after/fresh', '1/before', '1/before/old'])
      expect(parsePoint(text)).toBeUndefined()
  })
})

describe('a run in which the operator died', () => {
  const cases: Record<string, readonly [Partial<CrashRun>, readonly string[]]> = {
    'is good if it came to the same end without harm': [{}, []],
    'is bad if a promise was broken, whatever the end': [
      { violations: ['1.0 was below its floor'] },
      ['1.0 was below its floor'],
    ],
    'is bad if the operator lived, for then nothing was tried': [
      { hasDied: false },
      ['the operator lived on: it came to 2 writes'],
    ],
    'is bad if it wrote other things before that, for then another write was tried than was counted': [
      { written: ['patch nodes node-2 ', 'create pods shop/web-1 eviction'] },
      ['its writes until then are not those of the reference run'],
    ],
    'is bad if something is left over': [
      { end: [...reference.end, 'nodes /node-2 {}'] },
      ['there in the end: nodes /node-2 {}'],
    ],
    'is bad if something is gone': [{ end: ['noout: '] }, ['missing in the end: nodes /node-1 {}']],
    'is bad if it did not come to an end, and says why': [
      { broke: 'not within 600 s', end: [] },
      ['it did not come to its end: not within 600 s'],
    ],
  }
  it.each(Object.entries(cases))('%s', (_, [change, faults]) => {
    expect(faultsOfRun(reference, { ...died, ...change }, point)).toEqual(faults)
  })
})

it('a reference run that writes nothing proves nothing', () => {
  expect(faultsOfReference(reference)).toEqual([])
  expect(faultsOfReference({ ...reference, written: [] })).toEqual([
    'the operator writes nothing, so there is nothing to try',
  ])
})
