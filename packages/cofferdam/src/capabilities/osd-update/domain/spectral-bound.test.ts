import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import type { SlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import { buildSlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import { exampleMap } from '../../../safety/testing/example-map.ts'
import { lowerBoundOf } from './lower-bound.ts'
import { planRounds } from './plan-rounds.ts'
import { withProvedBound } from './prove-bound.ts'
import { spectralBound } from './spectral-bound.ts'
import { exampleCluster } from './testing/example-cluster.ts'
import { randomCluster } from './testing/random-cluster.ts'

type Pair = readonly [number, number]

/** OSDs of which some pairs share a placement group that can spare one copy. */
function sharing(units: number, pairs: readonly Pair[]): SlackHypergraph {
  const ids = Array.from({ length: units }, (_, id) => id)
  const map = exampleMap({
    hosts: { 'host-a': ids },
    pools: [{ id: 1, size: 2, minSize: 1 }],
    pgs: pairs.map((pair, at) => ({ pg: `1.${at.toString(16)}`, acting: pair })),
  })
  return buildSlackHypergraph({ map, targets: ids })
}

function ring(length: number, from = 0): Pair[] {
  return Array.from({ length }, (_, at) => [from + at, from + ((at + 1) % length)])
}

function* someOf(parts: number, perPart: number, next: () => number): Generator<Pair> {
  const units = parts * perPart
  for (let a = 0; a < units; a += 1) {
    for (let b = 0; b < a; b += 1) if (a % parts !== b % parts && next() < 0.5) yield [a, b]
  }
}

const petersen: Pair[] = [0, 1, 2, 3, 4].flatMap((at): Pair[] => [
  [at, (at + 1) % 5],
  [at, at + 5],
  [at + 5, ((at + 2) % 5) + 5],
])

const scenarios: Readonly<Record<string, { readonly graph: SlackHypergraph; readonly rounds: number | undefined }>> = {
  'five in a ring need a third round, though no three of them share with each other': {
    graph: sharing(5, ring(5)),
    rounds: 3,
  },
  'six in a ring need only two, so nothing is proved beyond that': { graph: sharing(6, ring(6)), rounds: undefined },
  'ten that form Petersen’s graph need three': { graph: sharing(10, petersen), rounds: 3 },
  'seven that all share with each other need seven': {
    graph: sharing(7, [...someOf(7, 1, () => 0)]),
    rounds: 7,
  },
  'OSDs that share nothing need no second round': { graph: sharing(5, []), rounds: undefined },
  'forty rings of six need only two, although nobody tries them all': {
    graph: sharing(240, Array.from({ length: 40 }, (_, at) => ring(6, at * 6)).flat()),
    rounds: undefined,
  },
}

describe('the bound by eigenvalues', () => {
  it.each(Object.entries(scenarios))('%s', (_, { graph, rounds }) => {
    expect(spectralBound(graph, 1)?.rounds).toBe(rounds)
  })

  it('is never above the number of kinds where OSDs share only with those of other kinds', () => {
    const random = seededRandom(3)
    const tooHigh = Array.from({ length: 24 }, (_, at) => {
      const [parts, perPart] = [2 + (at % 6), at % 2 === 0 ? 6 : 30]
      const graph = sharing(parts * perPart, [...someOf(parts, perPart, () => random.next())])
      return { parts, bound: spectralBound(graph, 1)?.rounds ?? 0 }
    }).filter(({ parts, bound }) => bound > parts)
    expect(tooHigh).toEqual([])
  })

  it('is never above what a plan takes on random clusters', () => {
    const random = seededRandom(5)
    const tooHigh = Array.from({ length: 150 }, () => {
      const map = randomCluster(() => random.next())
      const targets = map.osds.map(({ id }) => id)
      const { rounds } = planRounds({ map, targets, maxParallel: targets.length })
      return { rounds: rounds.length, bound: spectralBound(buildSlackHypergraph({ map, targets }), 1)?.rounds ?? 0 }
    }).filter(({ rounds, bound }) => bound > rounds)
    expect(tooHigh).toEqual([])
  })

  it('tells more of a large cluster than its cliques do, and the plan says so', () => {
    const random = seededRandom(1)
    const pools = [{ size: 3, minSize: 2, pgCount: 33_333 }]
    const map = exampleCluster({ hosts: 50, osdsPerHost: 20, pools }, () => random.next())
    const input = { map, targets: map.osds.map(({ id }) => id), maxParallel: 1_000 }
    const plan = planRounds(input)
    const proved = withProvedBound(plan, input)
    expect([plan.lowerBound.rounds, proved.lowerBound.rounds, proved.rounds]).toEqual([7, 8, plan.rounds])
    expect(proved.lowerBound.why).toBe(
      '1000 OSDs share placement groups that can lose only one copy, too evenly for fewer rounds (by eigenvalues)',
    )
  })

  it('leaves a plan alone whose bound is reached', () => {
    const graph = sharing(3, ring(3))
    const problem = { graph, perClass: 3, perGroup: 3, groupOf: new Int32Array(3), groupCount: 0 }
    expect([lowerBoundOf(problem).rounds, spectralBound(graph, 3)]).toEqual([3, undefined])
  })
})
