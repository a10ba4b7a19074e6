import { describe, expect, it } from 'vitest'
import type { ExampleMap } from '../../../safety/testing/example-map.ts'
import { decideOsdUpdate } from './decide.ts'
import { nowMs, twoTriples, type UpdateFixture, updateSnapshot } from './testing/update-fixture.ts'

const pgs = twoTriples.pgs ?? []
const startsWith = (map: ExampleMap, given: UpdateFixture = {}) =>
  decideOsdUpdate(updateSnapshot({ ...given, map })).start

/** osd.0 is on its way; what is seen of Ceph is all that the next decision knows. */
const underWay: UpdateFixture = {
  osds: { 0: { needsUpdate: false, isPodReady: false, startedMs: nowMs - 5_000 } },
  record: { startedMs: nowMs - 5_000 },
}

describe('the same update over a map that changed', () => {
  const changes: Record<string, { map: ExampleMap; fresh: readonly number[]; beside: readonly number[] }> = {
    'nothing changed': { map: twoTriples, fresh: [0, 1], beside: [1] },
    'a pool came that ties the two triples together': {
      map: { pools: [{ id: 1 }, { id: 2, name: 'late' }], pgs: [...pgs, { pg: '2.0', acting: [0, 1, 5] }] },
      fresh: [0, 3],
      beside: [3],
    },
    'the floor of the pool was raised to all its copies': {
      map: { ...twoTriples, pools: [{ id: 1, minSize: 3 }] },
      fresh: [],
      beside: [],
    },
    'the floor of the pool was lowered to one copy': {
      map: { ...twoTriples, pools: [{ id: 1, minSize: 1 }] },
      fresh: [0, 1, 4, 5],
      beside: [1, 2, 3],
    },
    'another OSD came and took the place of a copy': {
      map: {
        hosts: { 'host-a': [0, 1], 'host-b': [2, 3], 'host-c': [4, 5], 'host-d': [6] },
        pgs: [
          { pg: '1.0', acting: [0, 2, 6] },
          { pg: '1.1', acting: [1, 3, 5] },
        ],
      },
      fresh: [0, 1, 4],
      beside: [1, 4],
    },
    'an OSD with a copy of one triple died': {
      map: {
        osds: [{ id: 3, isUp: false, downAt: 5 }],
        pgs: [pgs[0] ?? { pg: '1.0', acting: [] }, { pg: '1.1', acting: [1, 5], state: 'active+undersized+degraded' }],
      },
      fresh: [0, 3],
      beside: [3],
    },
  }
  it.each(Object.entries(changes))('%s', (_, { map, fresh, beside }) => {
    expect([startsWith(map), startsWith(map, underWay)]).toEqual([fresh, beside])
  })
})
