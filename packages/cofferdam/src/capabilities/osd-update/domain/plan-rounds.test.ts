import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import type { CephMap } from '../../../safety/ceph-map.ts'
import { exampleMap } from '../../../safety/testing/example-map.ts'
import { type PlanInput, planRounds } from './plan-rounds.ts'
import { type ExampleCluster, exampleCluster } from './testing/example-cluster.ts'

function cluster(given: ExampleCluster): CephMap {
  const random = seededRandom(5)
  return exampleCluster(given, () => random.next())
}

function plan(map: CephMap, more: Partial<PlanInput> = {}) {
  const targets = map.osds.map(({ id }) => id)
  return planRounds({ map, targets, maxParallel: targets.length, ...more })
}

function sizes(map: CephMap, more: Partial<PlanInput> = {}): number[] {
  return plan(map, more).rounds.map(({ length }) => length)
}

const threeHosts = cluster({ hosts: 3, osdsPerHost: 10, pools: [{ size: 3, minSize: 2, pgCount: 1_000 }] })

describe('the plan of an OSD update', () => {
  it('takes host by host where every placement group is on all hosts, and says why it cannot be faster', () => {
    const { rounds, lowerBound, blocked, how } = plan(threeHosts)
    expect({ sizes: rounds.map(({ length }) => length), lowerBound, blocked, how }).toEqual({
      sizes: [10, 10, 10],
      lowerBound: { rounds: 3, why: 'a placement group has 3 copies to update and can lose 1 at a time' },
      blocked: [],
      how: 'host by host',
    })
  })

  it('proves ten hosts of ten with ten OSDs that are no two of them expendable together', () => {
    const map = cluster({ hosts: 10, osdsPerHost: 10, pools: [{ size: 3, minSize: 2, pgCount: 3_333 }] })
    const { rounds, lowerBound } = plan(map)
    expect([rounds.length, lowerBound.rounds, lowerBound.why]).toEqual([
      10,
      10,
      expect.stringMatching(/and 7 more share, each with each other, a placement group that can lose only one copy$/),
    ])
  })

  it('takes several hosts at a time where every placement group can spare several copies', () => {
    const map = cluster({ hosts: 12, osdsPerHost: 2, pools: [{ kind: 'erasure', size: 12, minSize: 9, pgCount: 500 }] })
    expect(sizes(map)).toEqual([6, 6, 6, 6])
  })

  it('goes rack by rack where that is the shortest, though a single placement group is spread by host', () => {
    const map = cluster({
      hosts: 40,
      osdsPerHost: 5,
      racks: 4,
      pools: [
        { size: 3, minSize: 2, pgCount: 4_000, domain: 'rack' },
        { size: 3, minSize: 2, pgCount: 1 },
      ],
    })
    expect(plan(map).rounds.length).toBeLessThanOrEqual(5)
  })

  it('keeps the limit, and names it when it is what makes the update long', () => {
    const { rounds, lowerBound } = plan(threeHosts, { maxParallel: 4 })
    expect([rounds.length, Math.max(...rounds.map(({ length }) => length)), lowerBound]).toEqual([
      9,
      4,
      { rounds: 8, why: '30 OSDs are to be updated, at most 4 in parallel' },
    ])
  })

  it('lets one at a time when the limit is no limit', () => {
    expect(sizes(threeHosts, { maxParallel: 0 })).toEqual(Array.from({ length: 30 }, () => 1))
  })

  it('begins with one, two and four when it shall, and takes them from what then is smaller', () => {
    expect(sizes(threeHosts, { canary: true })).toEqual([1, 2, 4, 3, 10, 10])
  })

  it('does not need an extra round for canaries where the limit keeps rounds that small anyway', () => {
    expect(sizes(threeHosts, { canary: true, maxParallel: 1 })).toEqual(Array.from({ length: 30 }, () => 1))
  })

  it('finishes a failure domain before it begins the next when asked to', () => {
    const map = cluster({ hosts: 4, osdsPerHost: 3, pools: [{ size: 2, minSize: 1, pgCount: 2 }] })
    expect(plan(map, { order: 'by-domain' }).rounds).toEqual([
      [0, 1, 2],
      [3, 4, 5],
      [6, 7, 8],
      [9, 10, 11],
    ])
  })

  it('has an OSD that is down in the first round, where its return can help the others', () => {
    const map = cluster({
      hosts: 4,
      osdsPerHost: 2,
      pools: [{ size: 4, minSize: 2, pgCount: 40 }],
      down: new Set([5]),
    })
    expect(plan(map).rounds[0]).toContain(5)
  })

  it('does not take an OSD that is down for a canary, for it tells nothing about the change', () => {
    const map = cluster({
      hosts: 4,
      osdsPerHost: 2,
      pools: [{ size: 4, minSize: 2, pgCount: 40 }],
      down: new Set([0]),
    })
    const { rounds } = plan(map, { canary: true })
    const others = rounds.map((round) => round.filter((id) => id !== 0).length)
    expect([rounds[0]?.includes(0), others.slice(0, 2)]).toEqual([false, [1, 1]])
  })

  it('leaves out what must not stop now, and plans the others', () => {
    const map = exampleMap({ pgs: [{ pg: '1.0', acting: [0, 2], state: 'active+undersized+degraded' }] })
    const why = 'placement group 1.0 of pool rbd has 2 whole copies up and must keep 2'
    expect(plan(map)).toMatchObject({
      rounds: [[1, 3, 4, 5]],
      blocked: [
        { osd: 0, why },
        { osd: 2, why },
      ],
    })
  })

  it('has no rounds when there is nothing to update', () => {
    expect(plan(threeHosts, { targets: [] })).toEqual({
      rounds: [],
      lowerBound: { rounds: 0, why: 'nothing is left to update' },
      blocked: [],
      how: 'nothing to plan',
    })
  })

  it('searches only as long as it may', () => {
    const map = cluster({ hosts: 30, osdsPerHost: 4, pools: [{ size: 3, minSize: 2, pgCount: 1_500 }] })
    let looks = 0
    const mayGoOn = (most: number) => () => {
      looks += 1
      return looks <= most
    }
    const count = (most: number) => plan(map, { mayGoOn: mayGoOn(most) }).rounds.length
    const without = count(0)
    const asked = looks
    looks = 0
    expect([asked, count(200) < without, looks > 1]).toEqual([1, true, true])
  })
})
