import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import type { CephMap, CephOsd } from '../../../safety/ceph-map.ts'
import { isAnyPeering, peeredOsds, stopEpochs } from './peered-osds.ts'
import { exampleCluster } from './testing/example-cluster.ts'

/** Three hosts with one OSD each, and placement groups that are on all of them. */
function threeOsds(change: { readonly osd0?: Partial<CephOsd>; readonly state?: string; readonly reported?: number }) {
  const random = seededRandom(1)
  const map = exampleCluster({ hosts: 3, osdsPerHost: 1, pools: [{ size: 3, minSize: 2, pgCount: 4 }] }, () =>
    random.next(),
  )
  const { osd0 = {}, state = 'active+clean', reported = map.epoch } = change
  const pgs = {
    ...map.pgs,
    stateNames: [state],
    states: new Uint16Array(map.pgs.count),
    reportedEpochs: new Int32Array(map.pgs.count).fill(reported),
  }
  return { ...map, pgs, osds: map.osds.map((osd) => (osd.id === 0 ? { ...osd, ...osd0 } : { ...osd, upFrom: 5 })) }
}

const peered = (map: CephMap, stoppedIn?: number) =>
  [...peeredOsds(map, (osd) => (osd === 0 ? stoppedIn : undefined), [0, 1, 2])].sort()

describe('which OSDs are back with all their placement groups', () => {
  const scenarios: Record<string, { readonly map: CephMap; readonly stoppedIn?: number; readonly back: number[] }> = {
    'one that came up after it was stopped, with reports since then, is back': {
      map: threeOsds({ osd0: { upFrom: 900 } }),
      stoppedIn: 800,
      back: [0, 1, 2],
    },
    'one that is still up from before it was stopped is not back, for Ceph has yet to notice': {
      map: threeOsds({ osd0: { upFrom: 700 } }),
      stoppedIn: 800,
      back: [1, 2],
    },
    'one that is down is not back': { map: threeOsds({ osd0: { isUp: false, upFrom: 900 } }), back: [1, 2] },
    'one whose placement groups last reported before it came up is not back, and the others are': {
      map: threeOsds({ osd0: { upFrom: 900 }, reported: 899 }),
      stoppedIn: 800,
      back: [1, 2],
    },
    'none is back while all are down': {
      map: { ...threeOsds({}), osds: threeOsds({}).osds.map((osd) => ({ ...osd, isUp: false })) },
      back: [],
    },
    'while placement groups peer nobody is back': { map: threeOsds({ state: 'peering' }), back: [] },
    'a placement group that activates has not found together yet': {
      map: threeOsds({ state: 'activating+degraded' }),
      back: [],
    },
    'a placement group that is stale says nothing': { map: threeOsds({ state: 'stale+active+clean' }), back: [] },
    'one that has peered and lacks others is no reason to wait for its OSDs': {
      map: threeOsds({ state: 'undersized+degraded+peered' }),
      back: [0, 1, 2],
    },
  }
  for (const [name, { map, stoppedIn, back }] of Object.entries(scenarios)) {
    it(name, () => expect(peered(map, stoppedIn)).toEqual(back))
  }
})

describe('whether Ceph is asked about others while OSDs come back', () => {
  const scenarios: Record<
    string,
    { readonly map: CephMap; readonly running: readonly number[]; readonly waits: boolean }
  > = {
    'not while a group of one that is back says peering: Ceph would refuse all of it, and a healthy update would warn':
      {
        map: threeOsds({ state: 'peering' }),
        running: [0],
        waits: true,
      },
    'where none restarts, what peers is not of the update, and Ceph answers for it': {
      map: threeOsds({ state: 'peering' }),
      running: [],
      waits: false,
    },
    'one that is down takes no part in the question': {
      map: threeOsds({ state: 'peering', osd0: { isUp: false } }),
      running: [0],
      waits: false,
    },
    'once its groups have peered it is asked': {
      map: threeOsds({ state: 'active+undersized+degraded' }),
      running: [0],
      waits: false,
    },
  }
  for (const [name, { map, running, waits }] of Object.entries(scenarios)) {
    it(name, () => expect(isAnyPeering(map, running)).toBe(waits))
  }
})

describe('the epoch after which an OSD has to come up again', () => {
  const starts = new Map([[0, { atMs: 5_000, epoch: 12 }]])
  const cases: Record<
    string,
    { osd: { startedMs: number; isUnmoved?: true }; nowMs: number; then: number | undefined }
  > = {
    'is that of its last start': { osd: { startedMs: 5_000 }, nowMs: 900_000, then: 12 },
    'is none for a start of before': { osd: { startedMs: 4_000 }, nowMs: 6_000, then: undefined },
    'is that of its start while its old pod may be all that was heard of': {
      osd: { startedMs: 5_000, isUnmoved: true },
      nowMs: 64_999,
      then: 12,
    },
    'is none where its Deployment was put back before its pod was replaced: it would freeze the update for good': {
      osd: { startedMs: 5_000, isUnmoved: true },
      nowMs: 65_000,
      then: undefined,
    },
  }
  it.each(Object.entries(cases))('%s', (_, { osd, nowMs, then }) => {
    expect(stopEpochs(starts, { osds: [{ id: 0, ...osd }], nowMs })(0)).toBe(then)
  })
})
