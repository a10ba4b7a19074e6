import { expect, it } from 'vitest'
import type { DrainStory } from './drain-story.ts'
import { drainTable, median } from './drain-table.ts'

const story: DrainStory = {
  blockedAfter: 0.56,
  ended: 2,
  firstEndedAfter: 8,
  lastEndedAfter: 18,
  calmAfter: 12,
  begunAgain: 0,
  longestStall: 2.1,
  faults: [],
}

it('a drain that never ended is seen as such, and not as a fast one', () => {
  const wedged = { ...story, ended: 1, lastEndedAfter: Number.NaN }
  const table = drainTable(
    'run',
    { drains: [wedged, story], crashes: [], violations: ['osd.1 had no budget'] },
    { drains: [story], crashes: [], violations: [] },
  ).split('\n')
  expect(table).toContain('| second drain, after the first node was uncordoned | never, 18.0 s | 18.0 s |')
  expect(table).toContain('| drains ended | 3 of 4 | 2 of 2 |')
  expect(table).toContain('| violations seen by the oracle | 1 | 0 |')
  expect(table.join()).not.toContain('power cut')
})

it('the middle of an even number of runs is the slower one', () => {
  expect(median([3, 1, 2])).toBe(2)
  expect(median([4, 1])).toBe(4)
})
