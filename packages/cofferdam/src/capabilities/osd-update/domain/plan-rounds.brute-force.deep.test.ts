import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import { type ExamplePg, exampleMap } from '../../../safety/testing/example-map.ts'
import { planRounds } from './plan-rounds.ts'

interface Edge {
  /** A bit for each unit. */
  readonly members: number
  readonly slack: number
}

function bitsOf(mask: number): number[] {
  return Array.from({ length: 7 }, (_, unit) => unit).filter((unit) => (mask >> unit) & 1)
}

function sizeOf(mask: number): number {
  return bitsOf(mask).length
}

/** Every edge that can matter among so many units. */
function edgeKinds(units: number): Edge[] {
  const masks = Array.from({ length: 2 ** units }, (_, mask) => mask).filter((mask) => sizeOf(mask) > 1)
  return masks.flatMap((members) =>
    Array.from({ length: sizeOf(members) - 1 }, (_, at) => ({ members, slack: at + 1 })),
  )
}

function* choices(kinds: readonly Edge[], most: number, from = 0): Generator<readonly Edge[]> {
  yield []
  if (most === 0) return
  for (let at = from; at < kinds.length; at += 1) {
    for (const rest of choices(kinds, most - 1, at + 1)) yield [kinds[at] as Edge, ...rest]
  }
}

/** The fewest rounds, by trying every safe set as the last round of every set of units. */
function fewestByForce(units: number, edges: readonly Edge[], maxParallel: number): number {
  const isSafe = (mask: number) =>
    sizeOf(mask) <= maxParallel && edges.every(({ members, slack }) => sizeOf(mask & members) <= slack)
  const safe = Array.from({ length: 2 ** units }, (_, mask) => isSafe(mask))
  const fewest = [0]
  for (let mask = 1; mask < 2 ** units; mask += 1) {
    let best = Number.POSITIVE_INFINITY
    for (let last = mask; last > 0; last = (last - 1) & mask) {
      if (safe[last]) best = Math.min(best, 1 + (fewest[mask ^ last] as number))
    }
    fewest.push(best)
  }
  return fewest[2 ** units - 1] as number
}

function fewestByPlan(units: number, edges: readonly Edge[], maxParallel: number): number {
  const pools = edges.map(({ members, slack }, at) => {
    const size = sizeOf(members)
    return { id: at + 1, name: `pool-${at + 1}`, size, minSize: size - slack }
  })
  const pgs = edges.map(({ members }, at): ExamplePg => ({ pg: `${at + 1}.0`, acting: bitsOf(members) }))
  const ids = Array.from({ length: units }, (_, unit) => unit)
  const hosts = { 'host-a': ids.filter((id) => id % 3 === 0), 'host-b': ids.filter((id) => id % 3 !== 0) }
  return planRounds({ map: exampleMap({ hosts, pools, pgs }), targets: ids, maxParallel }).rounds.length
}

function differences(units: number, all: Iterable<readonly Edge[]>, caps: readonly number[]): string[] {
  const found: string[] = []
  for (const edges of all) {
    for (const cap of caps) {
      const wanted = fewestByForce(units, edges, cap)
      const got = fewestByPlan(units, edges, cap)
      if (got !== wanted) found.push(`${JSON.stringify(edges)}, at most ${cap}: ${got} rounds instead of ${wanted}`)
    }
  }
  return found
}

describe('the plan of a small cluster has as few rounds as trying everything gives', () => {
  it('on every cluster of four OSDs and up to three placement groups', () => {
    expect(differences(4, choices(edgeKinds(4), 3), [4, 2])).toEqual([])
  })

  it('on every cluster of five OSDs and up to two placement groups', () => {
    expect(differences(5, choices(edgeKinds(5), 2), [5, 2])).toEqual([])
  })

  it('on clusters of seven OSDs and five placement groups drawn at random', () => {
    const random = seededRandom(7)
    const kinds = edgeKinds(7)
    const drawn = Array.from({ length: 600 }, () =>
      Array.from({ length: 5 }, () => kinds[Math.floor(random.next() * kinds.length)] as Edge),
    )
    expect(differences(7, drawn, [7, 3])).toEqual([])
  })

  it('on clusters of seven OSDs whose placement groups can each spare one copy of two or three', () => {
    const random = seededRandom(70)
    const kinds = edgeKinds(7).filter(({ members, slack }) => slack === 1 && sizeOf(members) <= 3)
    const drawn = Array.from({ length: 300 }, () =>
      Array.from({ length: 9 }, () => kinds[Math.floor(random.next() * kinds.length)] as Edge),
    )
    expect(differences(7, drawn, [7, 2])).toEqual([])
  })
})
