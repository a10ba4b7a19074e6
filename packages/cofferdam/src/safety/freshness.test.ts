import { describe, expect, it } from 'vitest'
import type { CephOsd } from './ceph-map.ts'
import { isFresh, isWaiting, lastChanges, newestReport, osdPresence, stalePgCount, up } from './freshness.ts'
import { type ExampleMap, type ExamplePg, exampleMap } from './testing/example-map.ts'

const cameBack = { id: 0, upFrom: 9, downAt: 7 }
const others: readonly ExamplePg[] = [
  { pg: '1.1', acting: [1, 3, 5] },
  { pg: '1.2', acting: [3, 5, 1] },
]

const rows: Record<string, { readonly pg: ExamplePg; readonly isOutdated: boolean }> = {
  'from before a member came back is outdated, or its copy would be counted as complete': {
    pg: { pg: '1.0', acting: [2, 4, 0], reported: 8 },
    isOutdated: true,
  },
  'from before a member came back is outdated also where CRUSH means that member to leave': {
    pg: { pg: '1.0', acting: [0, 2, 4], up: [1, 2, 4], reported: 8 },
    isOutdated: true,
  },
  'is outdated by an OSD that it is meant to get, which may hold an older copy': {
    pg: { pg: '1.0', acting: [1, 2, 4], up: [2, 4, 0], reported: 8 },
    isOutdated: true,
  },
  'of the epoch of the change knows of it, and is not waited for again': {
    pg: { pg: '1.0', acting: [0, 2, 4], reported: 9 },
    isOutdated: false,
  },
  'of OSDs that did not change is not outdated by one that did elsewhere': {
    pg: { pg: '1.0', acting: [1, 2, 4], reported: 8 },
    isOutdated: false,
  },
  'with a member that the map does not have is not waited for: no change of it can be known': {
    pg: { pg: '1.0', acting: [77, 2, 4], reported: 1 },
    isOutdated: false,
  },
}

describe('the report of a placement group', () => {
  it.each(Object.entries(rows))('%s', (_, { pg, isOutdated }) => {
    const places = [
      [pg, ...others],
      [others[0] as ExamplePg, pg, others[1] as ExamplePg],
      [...others, pg],
    ]
    const waiting = places.map((pgs) => {
      const map = exampleMap({ osds: [cameBack], pgs })
      return pgs.map((_, at) => isWaiting(map, at, lastChanges(map.osds)))
    })
    expect(waiting).toEqual([
      [isOutdated, false, false],
      [false, isOutdated, false],
      [false, false, isOutdated],
    ])
  })
})

const gone = [0, 2, 4].map((id) => ({ id, isUp: false, downAt: 9 }))
const waits: Record<string, { readonly given: ExampleMap; readonly count: number }> = {
  'that Ceph calls stale and whose members are all down is given up: it would hold every drain for ever': {
    given: { osds: gone, pgs: [{ pg: '1.0', state: 'stale+active+clean', acting: [0, 2, 4], reported: 8 }] },
    count: 0,
  },
  'whose members are all down is waited for until Ceph calls it stale': {
    given: { osds: gone, pgs: [{ pg: '1.0', acting: [0, 2, 4], reported: 8 }] },
    count: 1,
  },
  'that is stale is waited for while its last member is up and may yet report': {
    given: { osds: gone, pgs: [{ pg: '1.0', state: 'stale+peering', acting: [0, 2, 5], up: [0, 2], reported: 8 }] },
    count: 1,
  },
  'that is stale is waited for while an OSD that it is meant to get is up': {
    given: { osds: gone, pgs: [{ pg: '1.0', state: 'stale+peering', acting: [0, 2], up: [0, 2, 5], reported: 8 }] },
    count: 1,
  },
  'is not outdated by a change of the OSDs of its neighbours': {
    given: {
      osds: [cameBack],
      pgs: [
        { pg: '1.0', acting: [0, 2, 4], reported: 9 },
        { pg: '1.1', acting: [1, 3, 5], reported: 8 },
        { pg: '1.2', acting: [0, 2, 4], reported: 9 },
      ],
    },
    count: 0,
  },
  'is given up alone: the members of its neighbours are not taken for its own': {
    given: {
      osds: gone,
      pgs: [
        { pg: '1.0', acting: [1, 3, 5] },
        { pg: '1.1', state: 'stale+active+clean', acting: [0, 2, 4], reported: 8 },
        { pg: '1.2', acting: [1, 3, 5] },
      ],
    },
    count: 0,
  },
}

describe('a placement group', () => {
  it.each(Object.entries(waits))('%s', (_, { given, count }) => {
    expect(stalePgCount(exampleMap(given))).toBe(count)
  })
})

describe('a map', () => {
  const reported = (...epochs: number[]) =>
    exampleMap({ epoch: 10, pgs: epochs.map((epoch, at) => ({ pg: `1.${at}`, acting: [0, 2, 4], reported: epoch })) })

  it('is as new as the newest report in it, wherever that is', () => {
    expect([reported(), reported(8, 12, 9), reported(12), reported(8, 9)].map(newestReport)).toEqual([0, 12, 12, 9])
  })

  it('is out of date as soon as one report knows a later epoch: who is up is not what it says', () => {
    expect([reported(10, 8), reported(8, 11)].map(isFresh)).toEqual([true, false])
  })
})

describe('an OSD id', () => {
  const osd = (id: number): CephOsd => ({ id, isUp: true, isIn: true, upFrom: 3, downAt: 0 })
  const last = 1 << 20

  it('that no cluster has reserves no memory, and those beside it are still judged', () => {
    const osds = [osd(5), osd(last + 1), osd(2), osd(-3)]
    expect([osdPresence(osds).length, osdPresence(osds)[5], osdPresence(osds)[2], lastChanges(osds)[5]]).toEqual([
      6,
      up,
      up,
      3,
    ])
    expect(Object.keys(osdPresence(osds)).length).toBe(6)
  })

  it('is known up to the last that there can be', () => {
    expect(osdPresence([osd(last)])[last]).toBe(up)
  })
})
