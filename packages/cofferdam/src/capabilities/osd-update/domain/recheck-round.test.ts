import { describe, expect, it } from 'vitest'
import { type ExampleMap, exampleMap } from '../../../safety/testing/example-map.ts'
import { recheckRound } from './recheck-round.ts'

const whole = { pg: '1.1b', acting: [0, 2, 4] }

describe('the second check of a round', () => {
  const allowed: Readonly<Record<string, readonly [ExampleMap, readonly number[]]>> = {
    'lets one copy of three stop when two must stay': [{ pgs: [whole] }, [0, 1]],
    'lets an OSD stop that is down already, for it takes nothing away': [
      { osds: [{ id: 0, isUp: false }], pgs: [{ pg: '1.1b', acting: [2, 4], state: 'active+undersized+degraded' }] },
      [0],
    ],
    'lets stop what a doubtful placement group does not use': [
      { pgs: [{ ...whole, state: 'active+recovering+degraded' }] },
      [1],
    ],
  }
  it.each(Object.entries(allowed))('%s', (_, [given, osds]) => {
    expect(recheckRound({ map: exampleMap(given), osds })).toEqual({ isSafe: true })
  })

  const refused: Readonly<Record<string, readonly [ExampleMap, readonly number[], string]>> = {
    'names the placement group that would fall below its floor': [
      { pgs: [{ pg: '1.1a', acting: [0, 3, 5] }, whole] },
      [0, 2],
      'placement group 1.1b of pool rbd would have 1 copies left and must keep 2',
    ],
    'counts one copy where an OSD stands in a row twice': [
      { pgs: [{ pg: '1.1b', acting: [0, 2, 2] }] },
      [0],
      'placement group 1.1b of pool rbd would have 1 copies left and must keep 2',
    ],
    'looks at the set that a backfill may put in place': [
      { pgs: [{ ...whole, up: [1, 3, 5], state: 'active+remapped+backfilling' }] },
      [1, 3],
      'placement group 1.1b of pool rbd would have 1 copies left and must keep 2',
    ],
    'refuses what touches a copy that may lack objects': [
      { pgs: [{ ...whole, state: 'active+recovering+degraded' }] },
      [0],
      'placement group 1.1b of pool rbd may have a copy that lacks objects',
    ],
    'refuses what touches a placement group that is not active': [
      { pgs: [{ ...whole, state: 'peering' }] },
      [0],
      'placement group 1.1b of pool rbd is not active',
    ],
    'does not believe a row that is older than a change': [
      { pgs: [{ ...whole, reported: 4 }], osds: [{ id: 2, upFrom: 5 }] },
      [0],
      'placement group 1.1b of pool rbd was reported before a change',
    ],
    'does not believe a map that is older than a row': [
      { pgs: [{ ...whole, reported: 11 }] },
      [1],
      'placement group 1.1b of pool rbd has a report that is newer than the OSD map',
    ],
    'refuses everything while a placement group has never been reported': [
      { pgs: [{ pg: '1.1b', acting: [], state: 'unknown' }] },
      [1],
      'placement group 1.1b of pool rbd has not been reported by any OSD yet',
    ],
    'refuses what touches a pool that it does not know': [
      { pgs: [{ pg: '7.0', acting: [0, 2, 4] }] },
      [0],
      'placement group 7.0 of pool number 7 has no known number of copies to keep',
    ],
    'refuses an OSD that there is not': [{ pgs: [whole] }, [41], 'the OSD map has no osd.41'],
  }
  it.each(Object.entries(refused))('%s', (_, [given, osds, why]) => {
    expect(recheckRound({ map: exampleMap(given), osds })).toMatchObject({ isSafe: false, why })
  })

  it('does not judge a row whose state has no name: it may be any', () => {
    const map = exampleMap({ pgs: [whole] })
    const odd = { ...map, pgs: { ...map.pgs, states: Uint16Array.from([7]) } }
    expect(recheckRound({ map: odd, osds: [1] })).toMatchObject({ isSafe: false, isUnsure: true })
  })

  it('counts no copy on an OSD that the map does not have', () => {
    const map = exampleMap({ pgs: [{ pg: '1.0', acting: [0, 2, 99] }] })
    expect(recheckRound({ map, osds: [0] })).toMatchObject({
      isSafe: false,
      why: 'placement group 1.0 of pool rbd would have 1 copies left and must keep 2',
    })
  })

  it('refuses where the copies are on no site at all, and ends where the CRUSH map goes in a circle', () => {
    const map = exampleMap({ pools: [{ id: 1, size: 2, minSize: 1 }], pgs: [{ pg: '1.0', acting: [0, 2] }] })
    const sites = [{ poolIds: [1], type: 'datacenter' }]
    const circle = { id: -9, name: 'circle', type: 'rack', children: [-1] }
    const buckets = [
      ...map.crush.buckets.map((one) => (one.id === -2 ? { ...one, children: [...one.children, -9] } : one)),
      circle,
    ]
    const why = 'placement group 1.0 of pool rbd would have no copy left in any datacenter'
    expect(recheckRound({ map, osds: [0], sites })).toEqual({ isSafe: true })
    const alone = exampleMap({
      pools: [{ id: 1, size: 2, minSize: 1 }],
      pgs: [{ pg: '1.0', acting: [0, 2] }],
      hosts: { 'host-a': [0] },
      osds: [{ id: 2 }],
    })
    const inSite = {
      ...alone,
      crush: {
        ...alone.crush,
        buckets: [{ id: -5, name: 'dc-a', type: 'datacenter', children: [0] }, ...alone.crush.buckets],
      },
    }
    expect(recheckRound({ map: inSite, osds: [2], sites })).toMatchObject({ why })
    expect(recheckRound({ map: { ...map, crush: { ...map.crush, buckets } }, osds: [0], sites })).toEqual({
      isSafe: true,
    })
  })

  it('keeps the reserve that policy asks for', () => {
    expect(recheckRound({ map: exampleMap({ pgs: [whole] }), osds: [0], reserve: 1 })).toEqual({
      isSafe: false,
      why: 'placement group 1.1b of pool rbd would have 2 copies left and must keep 3',
      pg: '1.1b',
      pool: 'rbd',
    })
  })

  it('leaves a copy on each site where placement groups must have one to peer', () => {
    const map = exampleMap({
      hosts: { 'site-a': [0, 1], 'site-b': [2, 3] },
      pools: [{ id: 1, size: 4, minSize: 2 }],
      pgs: [{ pg: '1.0', acting: [0, 1, 2, 3] }],
    })
    const sites = [{ poolIds: [1], type: 'host' }]
    expect([
      recheckRound({ map, osds: [0, 1] }).isSafe,
      recheckRound({ map, osds: [0, 2], sites }).isSafe,
      recheckRound({ map, osds: [0, 1], sites }),
    ]).toMatchObject([true, true, { why: 'placement group 1.0 of pool rbd would have no copy left in site-a' }])
  })
})
