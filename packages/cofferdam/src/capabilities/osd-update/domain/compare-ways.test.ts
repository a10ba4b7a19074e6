import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { expect, it } from 'vitest'
import { compareWays } from './compare-ways.ts'
import { exampleCluster } from './testing/example-cluster.ts'

/** Three hosts, so that every placement group is on all of them. */
function threeHosts(down: ReadonlySet<number> = new Set()) {
  const random = seededRandom(3)
  const given = { hosts: 3, osdsPerHost: 10, pools: [{ size: 3, minSize: 2, pgCount: 900 }], down }
  return exampleCluster(given, () => random.next())
}
const targets = [...Array(30).keys()]

it('with room for a whole host both go host by host', () => {
  expect(compareWays({ map: threeHosts(), targets, maxParallel: 30, reserve: 0, sites: [] })).toEqual({
    rookRounds: 3,
    rookMax: 20,
    rookStuck: 0,
    domainType: 'host',
    domainRounds: 3,
  })
})

it('under a lower limit OSDs that are done take places in the batches of Rook, and it needs many more', () => {
  expect(compareWays({ map: threeHosts(), targets, maxParallel: 5, reserve: 0, sites: [] })).toEqual({
    rookRounds: 18,
    rookMax: 5,
    rookStuck: 0,
    domainType: 'host',
    domainRounds: 6,
  })
})

it('Rook keeps to its own limit where the cluster sets one', () => {
  const input = { map: threeHosts(), targets, maxParallel: 30, rookMaxInParallel: 2, reserve: 0, sites: [] }
  expect(compareWays(input)).toMatchObject({ rookMax: 2, rookRounds: 27, domainRounds: 3 })
})

it('while an OSD is down, Rook waits without end for those of all other hosts', () => {
  const map = threeHosts(new Set([0]))
  expect(compareWays({ map, targets, maxParallel: 30, reserve: 0, sites: [] })).toMatchObject({
    rookStuck: 20,
    domainRounds: 1,
  })
})
