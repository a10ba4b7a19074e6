import { expect, it } from 'vitest'
import { differenceTable, unusedDifferences } from './difference-table.ts'
import { knownDifferences } from './known-differences.ts'

it('the table counts what was asked and what explained it, and names what explained nothing', () => {
  const [first, second] = knownDifferences
  if (first === undefined || second === undefined) throw new Error('there are no known differences')
  const result = {
    states: 20_000,
    asked: { budgets: 1_000, flags: 2_000 },
    differing: 6,
    explained: new Map([[first, { alone: 1_500, together: 2 }]]),
    forbidden: ['seed 1: …'],
    unexplained: ['seed 2: …', 'seed 3: …'],
  }
  const lines = differenceTable(result).split('\n')
  expect(lines.slice(0, 8)).toEqual([
    '| | |',
    '|---|---|',
    '| random states | 20,000 |',
    '| answers about budgets | 1,000 |',
    '| answers about flags | 2,000 |',
    '| Longhorn holds what Cofferdam releases, or lets go what Cofferdam leaves to it | 1 |',
    '| other differences | 5 |',
    '| of these unexplained | 2 |',
  ])
  expect(lines).toContain(`| ${first.name} | ${first.why} | ${first.means} | 1,500 | 2 |`)
  expect(lines).toContain(`| ${second.name} | ${second.why} | ${second.means} | 0 | 0 |`)
  expect(unusedDifferences(result)).toEqual(knownDifferences.slice(1))
})
