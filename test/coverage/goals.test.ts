import { describe, expect, it } from 'vitest'
import { addRuns, coverageOfRooms, type FileCoverage, missedBranches } from './coverage-of-rooms.ts'
import { findMissedGoals } from './goals.ts'

const at = (line: number) => ({ start: { line } })
const source = 'packages/cofferdam/src'
const fileOf = (
  path: string,
  hits: { readonly lines: readonly number[]; readonly branch: readonly number[] },
): FileCoverage => ({
  path,
  s: Object.fromEntries(hits.lines.map((count, id) => [id, count])),
  statementMap: Object.fromEntries(hits.lines.map((_, id) => [id, at(id + 1)])),
  b: { 0: hits.branch },
  branchMap: { 0: { type: 'if', locations: hits.branch.map((_, branch) => at(branch + 5)) } },
})
const judge = fileOf(`${source}/capabilities/fencing/domain/decide.ts`, { lines: [1, 0], branch: [3, 0] })
const wires = fileOf(`${source}/cli/main.ts`, { lines: [1, 1], branch: [1, 1] })

describe('what the tests reach', () => {
  it('is counted by room, those that judge first', () => {
    expect(coverageOfRooms([wires, judge])).toEqual([
      {
        room: 'capabilities/fencing/domain',
        judges: true,
        lines: { reached: 1, of: 2 },
        branches: { reached: 1, of: 2 },
      },
      { room: 'cli', judges: false, lines: { reached: 2, of: 2 }, branches: { reached: 2, of: 2 } },
    ])
  })

  it('names each branch that no test takes, by its own line', () => {
    expect([judge, wires].flatMap(missedBranches)).toEqual([`${source}/capabilities/fencing/domain/decide.ts:6 if`])
  })

  it('is what either of two runs reaches, and a file that only one of them loads still counts', () => {
    const deep = fileOf(judge.path, { lines: [0, 2], branch: [0, 1] })
    expect(coverageOfRooms(addRuns([judge, wires], [deep])).map(({ lines, branches }) => [lines, branches])).toEqual([
      [
        { reached: 2, of: 2 },
        { reached: 2, of: 2 },
      ],
      [
        { reached: 2, of: 2 },
        { reached: 2, of: 2 },
      ],
    ])
  })
})

describe('a floor', () => {
  const product = { lines: 75, branches: 75 }

  it('that is held exactly is held', () => {
    expect(findMissedGoals([judge, wires], { rooms: { 'capabilities/fencing/domain': 50 }, product })).toEqual([])
  })

  it('that is not held is named with what is missing, and a room without one is held to all', () => {
    expect(findMissedGoals([judge, wires], { rooms: {}, product: { lines: 76, branches: 75 } })).toEqual([
      'branches of capabilities/fencing/domain: 1 of 2 are reached, less than 100 %',
      'lines of the product: 3 of 4 are reached, less than 76 %',
    ])
  })
})
