import { spectralBound } from '@cofferdam/product/capabilities/osd-update/domain/spectral-bound.ts'
import { buildSlackHypergraph } from '@cofferdam/product/safety/slack-hypergraph.ts'
import { describe, expect, it } from 'vitest'
import { compareStructures } from './compare-structures.ts'
import { eachStructure, type Structure } from './every-structure.ts'
import { forceOf } from './fewest-by-force.ts'
import { mapOfStructure } from './plan-structure.ts'

/** All clusters of so few OSDs and placement groups with their names, each told by the least of its names. */
function countedByNames(units: number, things: number, slacks: readonly number[]): number {
  const orders = permutationsOf(Array.from({ length: units }, (_, unit) => unit))
  const seen = new Set<string>()
  const choose = (edges: readonly { readonly members: number; readonly slack: number }[]) => {
    if (edges.length === things) {
      const names = orders.map((order) =>
        edges
          .map(
            ({ members, slack }) =>
              `${slack} ${order.reduce((set, to, from) => set | (((members >> from) & 1) << to), 0)}`,
          )
          .sort()
          .join(),
      )
      seen.add(names.sort()[0] ?? '')
      return
    }
    for (const slack of slacks) {
      for (let members = 0; members < 2 ** units; members += 1) {
        const size = members.toString(2).replaceAll('0', '').length
        if (size > slack) choose([...edges, { members, slack }])
      }
    }
  }
  choose([])
  return seen.size
}

function permutationsOf(list: readonly number[]): number[][] {
  if (list.length === 0) return [[]]
  return list.flatMap((one) => permutationsOf(list.filter((other) => other !== one)).map((rest) => [one, ...rest]))
}

describe('all small clusters', () => {
  it('are each visited once, whatever their OSDs and placement groups are called', () => {
    const counts = [
      { units: 3, things: 3, slacks: [1, 2] },
      { units: 4, things: 2, slacks: [1, 2, 3] },
      { units: 4, things: 3, slacks: [1] },
    ].map((bounds) => {
      const visited: Structure[] = []
      eachStructure(bounds, (structure) => visited.push(structure))
      const isOnce = new Set(visited.map((structure) => JSON.stringify(structure))).size === visited.length
      return [visited.length, isOnce, countedByNames(bounds.units, bounds.things, bounds.slacks)]
    })
    expect(counts.map(([visited, isOnce]) => [visited, isOnce])).toEqual(counts.map(([, , count]) => [count, true]))
  })
})

/** `npm run check:rounds` does the same with every one of them. */
describe('the plan has as few rounds as trying everything gives, and a lower bound that holds,', () => {
  const asByForce = (structures: number) => ({ structures, equal: structures, longer: 0, wrong: 0, boundTooHigh: 0 })

  it('on clusters of seven OSDs and up to four placement groups that can spare one copy', () => {
    const told = [1, 2, 3, 4].map((things) => {
      return compareStructures({ units: 7, things, slacks: [1] }, { stride: things === 4 ? 8 : 1 })
    })
    expect(told).toMatchObject([6, 49, 500, 785].map(asByForce))
  })

  it('on every 16th cluster of six OSDs and five placement groups that can spare one copy', () => {
    expect(compareStructures({ units: 6, things: 5, slacks: [1] }, { stride: 16 })).toMatchObject(asByForce(927))
  })

  it('on every 8th cluster of seven OSDs and three placement groups that can spare one, two or three', () => {
    const told = compareStructures({ units: 7, things: 3, slacks: [1, 2, 3] }, { stride: 8 })
    expect(told).toMatchObject(asByForce(726))
  })
})

describe('the bound by eigenvalues, on all clusters of seven OSDs whose three placement groups can spare one copy,', () => {
  it('is never above the fewest rounds there can be', () => {
    const targets = [0, 1, 2, 3, 4, 5, 6]
    const fewestOf = forceOf(7)
    const counts = { below: 0, equal: 0, above: 0 }
    eachStructure({ units: 7, things: 3, slacks: [1] }, (structure) => {
      const bound = spectralBound(buildSlackHypergraph({ map: mapOfStructure(structure), targets }), 1)?.rounds ?? 2
      const fewest = fewestOf(structure)
      counts[bound === fewest ? 'equal' : bound < fewest ? 'below' : 'above'] += 1
    })
    expect(counts).toEqual({ below: 359, equal: 141, above: 0 })
  })
})
