import { describe, expect, it } from 'vitest'
import type { OsdState, UpdateHost } from './osd-update-overview.ts'
import { drawSchedule, type Flow, moveCursor, placeChanges, squareText } from './schedule-picture.ts'

const of = 'ns/ceph'

function host(name: string, osds: [number, OsdState][], within: string[] = []): UpdateHost {
  return { piece: 'host', id: `host ${name}`, of, host: name, within, osds }
}

const hosts = [
  host('a', [
    [0, 'done'],
    [1, 'on-the-way'],
    [4, 'failed'],
  ]),
  host('b', [
    [2, 'waits'],
    [3, 'waits'],
    [5, 'done'],
  ]),
]
const plan = { piece: 'plan' as const, id: 'plan', of, rounds: [[0, 2], [1, 3], [99]] }

function columns(groups: ReturnType<typeof drawSchedule>) {
  return groups.map(({ label, says, squares }) => [label, says, squares.map(({ osd }) => osd)])
}

describe('the picture of a schedule', () => {
  it('by round has a column for each, before them what was done earlier, after them what is in none', () => {
    expect(columns(drawSchedule({ plan, hosts }, 'by-round'))).toEqual([
      ['Done', 'Up to date before these rounds were planned: 1 done', [5]],
      ['1', 'Round 1: 1 done, 1 waits', [0, 2]],
      ['2', 'Round 2: 1 restarting, 1 waits', [1, 3]],
      ['No round', 'In no round: 1 failed', [4]],
    ])
  })

  it('by host has a row for each, and says where it stands', () => {
    const racked = [host('a', [[0, 'done']], ['zone x', 'rack r1']), ...hosts.slice(1)]
    expect(columns(drawSchedule({ plan: undefined, hosts: racked }, 'by-host'))).toEqual([
      ['a', 'a in zone x, rack r1: 1 done', [0]],
      ['b', 'b: 1 done, 2 wait', [2, 3, 5]],
    ])
  })

  it('knows where another rack begins, and that rounds stand in none', () => {
    const places = ['r1', 'r1', 'r2'].map((rack, at) => host(`h${at}`, [[at, 'done']], [`rack ${rack}`]))
    expect([...placeChanges(drawSchedule({ plan: undefined, hosts: places }, 'by-host'))]).toEqual([0, 2])
    expect(placeChanges(drawSchedule({ plan, hosts: places }, 'by-round')).size).toBe(0)
  })

  it('leaves out OSDs of the plan that are gone', () => {
    const groups = drawSchedule({ plan, hosts }, 'by-round')
    expect(groups.flatMap(({ squares }) => squares).some(({ osd }) => osd === 99)).toBe(false)
  })

  it('each square says what it is, where, when and how', () => {
    const [square] = drawSchedule({ plan, hosts: [host('a', [[1, 'on-the-way']], ['rack r1'])] }, 'by-round').flatMap(
      ({ squares }) => squares,
    )
    expect(square && squareText(square)).toBe('osd.1 on a (rack r1), round 2, restarting')
    const [displaced] =
      drawSchedule({ plan: undefined, hosts: [host('', [[1, 'waits']])] }, 'by-host')[0]?.squares ?? []
    expect(displaced && squareText(displaced)).toBe('osd.1, waits')
  })

  it('of 10,000 OSDs holds each exactly once', () => {
    const many = Array.from({ length: 500 }, (_, at) =>
      host(
        `h${at}`,
        Array.from({ length: 20 }, (_, disk): [number, OsdState] => [at * 20 + disk, 'waits']),
      ),
    )
    const rounds = Array.from({ length: 40 }, (_, at) => Array.from({ length: 250 }, (_, each) => each * 40 + at))
    const groups = drawSchedule({ plan: { ...plan, rounds }, hosts: many }, 'by-round')
    expect(groups).toHaveLength(40)
    expect(new Set(groups.flatMap(({ squares }) => squares.map(({ osd }) => osd))).size).toBe(10_000)
  })
})

describe('arrow keys', () => {
  const groups = drawSchedule({ plan, hosts }, 'by-round')
  const cases: Record<string, { from: [number, number]; key: string; flow: Flow; to: [number, number] | undefined }> = {
    'down goes on within a column': { from: [1, 0], key: 'ArrowDown', flow: 'down', to: [1, 1] },
    'and stays at its end': { from: [1, 1], key: 'ArrowDown', flow: 'down', to: [1, 1] },
    'right goes to the next column, as far down as it reaches': {
      from: [2, 1],
      key: 'ArrowRight',
      flow: 'down',
      to: [3, 0],
    },
    'left of the first there is nothing': { from: [0, 0], key: 'ArrowLeft', flow: 'down', to: [0, 0] },
    'in rows right goes on within the row': { from: [1, 0], key: 'ArrowRight', flow: 'right', to: [1, 1] },
    'and down to the next row': { from: [1, 1], key: 'ArrowDown', flow: 'right', to: [2, 1] },
    'home is the first': { from: [2, 1], key: 'Home', flow: 'down', to: [0, 0] },
    'end is the last': { from: [0, 0], key: 'End', flow: 'down', to: [3, 0] },
    'other keys are left to the page': { from: [0, 0], key: 'Tab', flow: 'down', to: undefined },
  }
  it.each(Object.entries(cases))('%s', (_name, { from: [group, at], key, flow, to }) => {
    const then = moveCursor(groups, { group, at }, { key, flow })
    expect(then).toEqual(to && { group: to[0], at: to[1] })
  })

  it('lead nowhere in an empty picture', () => {
    expect(moveCursor([], { group: 0, at: 0 }, { key: 'ArrowDown', flow: 'down' })).toBeUndefined()
  })
})
