import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import { exampleMap } from '../../../safety/testing/example-map.ts'
import { emulateRook } from './emulate-rook.ts'
import { exampleCluster } from './testing/example-cluster.ts'

const spread = {
  pgs: [
    { pg: '1.0', acting: [0, 2, 4] },
    { pg: '1.1', acting: [1, 3, 5] },
  ],
}

describe("Rook's way of updating", () => {
  it('takes a host at a time, because adding from the next wider bucket ends with the first refusal', () => {
    const map = exampleMap({
      pgs: [...spread.pgs, { pg: '1.2', acting: [0, 3, 4] }, { pg: '1.3', acting: [1, 2, 5] }],
    })
    expect(emulateRook({ map, targets: [0, 1, 2, 3, 4, 5] }).batches).toEqual([
      [0, 1],
      [2, 3],
      [4, 5],
    ])
  })

  it('wastes places of a batch on OSDs that are done already, so that hosts larger than the limit take many rounds', () => {
    const random = seededRandom(1)
    const map = exampleCluster({ hosts: 4, osdsPerHost: 6, pools: [{ size: 3, minSize: 2, pgCount: 400 }] }, () =>
      random.next(),
    )
    const targets = map.osds.map(({ id }) => id)
    expect(emulateRook({ map, targets, max: 4 }).batches.slice(0, 4)).toEqual([[0, 1, 2, 3], [4], [5], [6, 7, 8, 9]])
  })

  it('counts one look at all placement groups for each set that is tried', () => {
    const { pgScans } = emulateRook({ map: exampleMap(spread), targets: [0], max: 2 })
    expect(pgScans).toBe(2)
  })

  it('takes an OSD that is in two buckets from the first of them, as Ceph does', () => {
    const map = exampleMap({ hosts: { 'host-a': [0, 1], 'host-b': [0, 2] }, pgs: [{ pg: '1.0', acting: [0, 1, 2] }] })
    const { batches } = emulateRook({
      map: { ...map, pools: map.pools.map((pool) => ({ ...pool, minSize: 1 })) },
      targets: [0, 1, 2],
    })
    expect(batches).toEqual([[0, 1], [2]])
  })

  it('never gets to an OSD that Ceph does not let stop, and says which', () => {
    const map = exampleMap({ pgs: [{ pg: '1.0', acting: [0, 2], state: 'active+undersized+degraded' }] })
    expect(emulateRook({ map, targets: [0, 1, 2] })).toMatchObject({ batches: [[1]], stuck: [0, 2] })
  })
})
