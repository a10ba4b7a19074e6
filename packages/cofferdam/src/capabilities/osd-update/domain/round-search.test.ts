import { describe, expect, it } from 'vitest'
import { buildSlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import { exampleMap } from '../../../safety/testing/example-map.ts'
import type { RoundProblem } from './class-limits.ts'
import { withFewerClasses } from './fewer-classes.ts'
import { fewestClasses } from './fewest-classes.ts'
import { findClique } from './find-clique.ts'
import { lowerBoundOf } from './lower-bound.ts'
import { mixedNumbers } from './mixed-numbers.ts'
import { mostConstrainedFirst } from './most-constrained-first.ts'
import { createRollingWindow } from './next-starts.ts'
import { planRounds } from './plan-rounds.ts'
import { withProvedBound } from './prove-bound.ts'
import { downFirst } from './round-order.ts'

/** Each list shares a placement group that can lose one copy; units are the OSDs 0, 1, 2 ... */
function problemOf(
  units: number,
  shared: readonly (readonly number[])[],
  facts: Partial<RoundProblem> & { readonly down?: readonly number[] } = {},
): RoundProblem {
  const { down = [], ...limits } = facts
  const ids = Array.from({ length: units }, (_, id) => id)
  const map = exampleMap({
    hosts: { 'host-a': ids },
    osds: down.map((id) => ({ id, isUp: false, downAt: 5 })),
    pools: shared.map((members, at) => ({ id: at + 1, size: members.length, minSize: members.length - 1 })),
    pgs: shared.map((acting, at) => ({ pg: `${at + 1}.0`, acting })),
  })
  return {
    graph: buildSlackHypergraph({ map, targets: ids }),
    perClass: units,
    perGroup: units,
    groupOf: new Int32Array(units),
    groupCount: 1,
    ...limits,
  }
}

const ring = (length: number) => Array.from({ length }, (_, at) => [at, (at + 1) % length])
const all = (length: number) => Array.from({ length }, (_, a) => Array.from({ length: a }, (__, b) => [a, b])).flat()

describe('the search that tries everything', () => {
  it('finds two rounds for a ring of six, and proves that there is no better', () => {
    const { partition, isProved } = fewestClasses(problemOf(6, ring(6)), 7, 1)
    expect([partition?.count, isProved]).toEqual([2, true])
    expect(new Set([0, 2, 4].map((unit) => partition?.classOf[unit])).size).toBe(1)
  })

  it('passes over what is longer than a plan that it has found already', () => {
    const shared = [
      [0, 1],
      [0, 3],
      [1, 3],
      [1, 4],
      [2, 3],
      [3, 4],
    ]
    expect(fewestClasses(problemOf(6, shared), 7, 1)).toMatchObject({ partition: { count: 3 }, isProved: true })
  })

  it('is what is left where orders alone do not find the shortest plan', () => {
    const shared = '84 75 61 54 13 65 73 03 15 21 38 52 72 07 64'.split(' ').map((pair) => pair.split('').map(Number))
    const map = exampleMap({
      hosts: Object.fromEntries(Array.from({ length: 9 }, (_, id) => [`host-${id}`, [id]])),
      pools: [{ id: 1, size: 2, minSize: 1 }],
      pgs: shared.map((acting, at) => ({ pg: `1.${at.toString(16)}`, acting })),
    })
    const { rounds, how } = planRounds({ map, targets: [0, 1, 2, 3, 4, 5, 6, 7, 8], maxParallel: 3 })
    expect([rounds.length, how]).toEqual([3, 'every possibility tried; no plan has fewer rounds'])
  })

  it('ends with the first plan that reaches the bound', () => {
    expect(fewestClasses(problemOf(6, ring(6)), 7, 2)).toMatchObject({ partition: { count: 2 }, isProved: true })
  })

  it('says that it proved nothing where it gave up: a longer plan would pass for the shortest', () => {
    const groupOf = Int32Array.from({ length: 12 }, (_, unit) => (unit < 6 ? -1 : 0))
    expect(fewestClasses(problemOf(12, [], { groupOf, perGroup: 1 }), 6, 1)).toEqual({
      partition: undefined,
      isProved: false,
    })
  })
})

describe('the search for fewer rounds', () => {
  it('leaves the plan as it is where the other rounds have no room for those of the smallest', () => {
    const problem = problemOf(5, [], { perClass: 2 })
    const partition = { classOf: Int32Array.from([0, 0, 1, 1, 2]), count: 3 }
    expect(withFewerClasses({ problem, partition, atLeast: 1, mayGoOn: () => true })).toBe(partition)
  })

  it('does not begin where its table would not fit into memory', () => {
    expect(mostConstrainedFirst(problemOf(2, [[0, 1]]), 2 ** 26)).toBeUndefined()
  })

  it('draws from every seed: one that gave zeros alone would always move the same OSD', () => {
    const numbers = mixedNumbers(0x5bd1e995)
    expect(new Set(Array.from({ length: 20 }, () => numbers.below(1_000))).size).toBeGreaterThan(10)
  })
})

describe('OSDs of which no two may be down together', () => {
  const listed = (length: number, from: number) => Array.from({ length }, (_, at) => from + at)

  it('are found in a cluster that is too large for a table of pairs, and only by what can lose one copy', () => {
    const problem = problemOf(1_100, [...all(6).map((pair) => pair.map((id) => id + 500)), [0, 500]])
    expect(findClique(problem.graph)).toEqual(listed(6, 500))
    const graph = { ...problem.graph, slack: problem.graph.slack.map(() => 2) }
    expect(findClique(graph)).toHaveLength(1)
  })

  it('are not sought for ever there: the larger group comes after the work that is allowed', () => {
    const [larger, first] = [listed(70, 0), listed(60, 100)]
    const leaves = first.map((id) => [id, id + 500])
    const problem = problemOf(1_100, [larger, first, ...leaves])
    expect(findClique(problem.graph)).toEqual(first)
  })
})

it('an OSD that is in no failure domain counts to none of them', () => {
  const groupOf = Int32Array.from([0, 0, -1, -1, -1])
  const problem = problemOf(5, [], { groupOf, perGroup: 1 })
  expect(lowerBoundOf(problem)).toEqual({
    rounds: 2,
    why: '2 OSDs of one failure domain are to be updated, at most 1 of a domain in parallel',
  })
})

it('a plan that names an OSD which is gone starts the others', () => {
  const { graph } = problemOf(2, [])
  const window = createRollingWindow({ hypergraph: graph, plan: { rounds: [[0, 9, 1]] }, maxParallel: 3 })
  expect([window.start(), window.waitingCount]).toEqual([[0, 1], 0])
})

it('what is down already goes first only where that takes no round more', () => {
  const groups = { perClass: 2, perGroup: 1, groupOf: Int32Array.from([0, 1, 2, 1]), groupCount: 3 }
  const problem = problemOf(4, [], { ...groups, down: [2, 3] })
  const rounds = [
    [0, 3],
    [1, 2],
  ]
  expect(downFirst(problem, rounds, false)).toBe(rounds)
  expect(downFirst(problemOf(4, [], { ...groups, down: [2] }), rounds, false)).toEqual([
    [0, 3],
    [1, 2],
  ])
})

describe('a bound that is proved for those who read it', () => {
  const map = exampleMap({ pools: [{ id: 1, size: 2, minSize: 1 }], pgs: [{ pg: '1.0', acting: [0, 2] }] })
  const input = { map, targets: [0, 1, 2, 3, 4, 5], maxParallel: 6 }

  it('is not sought where the plan reaches the one at hand', () => {
    const plan = planRounds(input)
    expect(withProvedBound(plan, input)).toBe(plan)
  })

  it('is the one at hand where eigenvalues prove nothing more', () => {
    const plan = { ...planRounds(input), rounds: [[0], [1], [2], [3, 4, 5]] }
    expect(withProvedBound(plan, input)).toEqual(plan)
  })
})

describe('OSDs by their failure domains', () => {
  it('those that are in none are planned too, and a pool whose rule is gone spreads over OSDs', () => {
    const map = exampleMap({
      hosts: { 'host-a': [0, 1] },
      osds: [{ id: 7 }],
      pools: [{ id: 1 }, { id: 2, crushRuleId: 9 }],
      pgs: [],
    })
    const { rounds, blocked } = planRounds({ map, targets: [0, 1, 7], maxParallel: 3 })
    expect([rounds.flat().sort(), blocked]).toEqual([[0, 1, 7], []])
  })
})
