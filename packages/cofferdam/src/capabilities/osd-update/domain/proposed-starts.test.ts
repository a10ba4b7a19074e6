import { describe, expect, it } from 'vitest'
import { exampleMap } from '../../../safety/testing/example-map.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { decideOsdUpdate } from './decide.ts'
import { namesOf } from './proposed-starts.ts'
import { nowMs, twoTriples, type UpdateFixture, updateSnapshot } from './testing/update-fixture.ts'

const byStop = { strategy: 'ok-to-stop' } as const

function decide(given: UpdateFixture, osds?: readonly number[]) {
  const snapshot = updateSnapshot({ ...given, settings: { ...byStop, ...given.settings } })
  const proposal = osds && known({ by: 'ok-to-stop' as const, osds, asked: [0] })
  return decideOsdUpdate({ ...snapshot, ...(proposal && { proposal }) })
}

it('of many OSDs ten are named, and the others counted: a list of a thousand helps nobody', () => {
  const ids = Array.from({ length: 12 }, (_, id) => id)
  expect([namesOf([3, 5]), namesOf(ids)]).toEqual([
    'osd.3, osd.5',
    'osd.0, osd.1, osd.2, osd.3, osd.4, osd.5, osd.6, osd.7, osd.8, osd.9 and 2 more',
  ])
})

describe('where Ceph is to choose', () => {
  it('it is asked first, about those that may stop alone by our own reckoning, and nothing starts before it answers', () => {
    const { start, ask, reason } = decide({ needing: [0, 2, 5] })
    expect({ start, ask, reason }).toEqual({
      start: [],
      ask: { by: 'ok-to-stop', osds: [0, 2, 5], max: 6, updated: [1, 3, 4] },
      reason: 'OsdsUpdating',
    })
  })

  it('an upgrade asks for what may run another version, and anything else for what may stop', () => {
    const settings = { strategy: 'ok-to-upgrade', cephVersion: '20.2.5-9-g1234abc' } as const
    const upgrade = decide({ settings, cluster: { isUpgrade: true } })
    const change = decide({ settings })
    expect([upgrade.ask?.by, upgrade.ask?.version, change.ask?.by]).toEqual([
      'ok-to-upgrade',
      '20.2.5-9-g1234abc',
      'ok-to-stop',
    ])
  })

  const starts: Record<string, { given?: UpdateFixture; named: readonly number[]; start: readonly number[] }> = {
    'the batch is what it names': { named: [0, 1], start: [0, 1] },
    'of that only those that need an update': { given: { needing: [0, 4] }, named: [0, 1], start: [0] },
    'of that only those that have a Deployment': { given: { ids: [1, 2, 3] }, named: [0, 1], start: [1] },
    'and no more than the limit lets': {
      given: { settings: { maxInParallel: { kind: 'count', count: 1 } } },
      named: [0, 1],
      start: [0],
    },
    'the canary goes alone, however many are named': {
      given: { settings: { canary: true } },
      named: [0, 1],
      start: [0],
    },
    'what is kept in reserve is not for Ceph to give away: only part of its batch starts': {
      given: {
        needing: [0, 1],
        settings: { reserve: 1 },
        map: { pools: [{ id: 1, size: 4 }], pgs: [{ pg: '1.0', acting: [0, 1, 2, 4] }] },
      },
      named: [0, 1],
      start: [0],
    },
  }
  it.each(Object.entries(starts))('%s', (_, { given = {}, named, start }) => {
    const decision = decide(given, named)
    expect([decision.reason, decision.start]).toEqual(['OsdsUpdating', start])
  })

  it('those that are down go first, and Ceph is not asked about them', () => {
    const map = { ...twoTriples, osds: [{ id: 3, isUp: false, downAt: 5 }] }
    const { start, ask } = decide({ map, needing: [0, 3] })
    expect([start, ask]).toEqual([[3], undefined])
  })

  it('a batch is over before the next is asked for, whatever room there is', () => {
    const away = { needsUpdate: false, isPodReady: false, startedMs: nowMs - 5_000 }
    const { start, ask, reason } = decide({ osds: { 0: away }, record: { startedMs: nowMs - 5_000 } })
    expect([start, ask, reason]).toEqual([[], undefined, 'OsdsUpdating'])
  })

  it('while a gate is closed nobody asks anything', () => {
    const { ask, reason } = decide({ settings: { requiresHealthyPgs: true }, ceph: { isClean: known(false) } })
    expect([ask, reason]).toEqual([undefined, 'PgsNotClean'])
  })
})

describe('Ceph and our own reckoning contradict each other', () => {
  it('Ceph names a set that would put a placement group out of reach: none of it starts', () => {
    const { start, reason, explanation } = decide({}, [0, 1, 2])
    expect([start, reason]).toEqual([[], 'CephDisagrees'])
    expect(explanation).toBe(
      "ceph osd ok-to-stop calls osd.0, osd.1, osd.2 safe to stop together, and Cofferdam's calculation refuses: placement group 1.0 of pool rbd would have 1 copies left and must keep 2",
    )
  })

  it('even when what makes its set wrong needs no update', () => {
    const { start, reason } = decide({ needing: [0] }, [0, 2])
    expect([start, reason]).toEqual([[], 'CephDisagrees'])
  })

  it('Ceph refuses what may stop', () => {
    const { start, reason } = decide({}, [])
    expect([start, reason]).toEqual([[], 'CephDisagrees'])
  })

  it('reports that are too old to judge by are no disagreement, and nothing starts before they come', () => {
    const pgs = [
      { pg: '1.0', acting: [0, 2, 4], reported: 5 },
      { pg: '1.1', acting: [1, 3, 5] },
    ]
    const osds = [{ id: 4, upFrom: 9 }]
    const { start, reason } = decide({ map: { pgs, osds } }, [1, 2])
    expect([start, reason]).toEqual([[], 'OsdUpdateBlocked'])
  })
})

it('without an answer of Ceph nothing starts', () => {
  const proposal = unknown('osd ok-to-stop ended with 13: access denied')
  const decision = decideOsdUpdate({ ...updateSnapshot({ settings: byStop }), proposal })
  expect([decision.start, decision.reason]).toEqual([[], 'SafetyUnknown'])
  expect(decision.explanation).toContain('access denied')
})

describe('a cluster that is stretched over two sites', () => {
  const base = exampleMap({
    hosts: { 'host-a': [0, 1], 'host-b': [2, 3], 'host-c': [4, 5], 'host-d': [6, 7] },
    pools: [{ id: 1, size: 4, minSize: 2 }],
    pgs: [{ pg: '1.0', acting: [0, 2, 4, 6] }],
  })
  const [root, a, b, c, d] = base.crush.buckets
  const ids = (...buckets: (typeof root)[]) => buckets.map((bucket) => bucket?.id ?? 0)
  const buckets = [
    { id: -1, name: 'default', type: 'root', children: [-20, -21] },
    { id: -20, name: 'east', type: 'datacenter', children: ids(a, b) },
    { id: -21, name: 'west', type: 'datacenter', children: ids(c, d) },
    ...[a, b, c, d].flatMap((bucket) => bucket ?? []),
  ]
  const map = { ...base, crush: { ...base.crush, buckets }, sites: [{ poolIds: [1], type: 'datacenter' }] }
  const given = (settings: UpdateFixture['settings'] = {}): UpdateFixture => ({
    ids: [0, 2, 4, 6],
    settings,
    ceph: { map, peered: new Set([0, 2, 4, 6]) },
  })
  const startOf = (fixture: UpdateFixture) => decideOsdUpdate(updateSnapshot(fixture)).start

  it('two copies may go, but never both of one site, so that each site has a copy at every moment', () => {
    const unaware = startOf({ ...given(), ceph: { map: { ...map, sites: [] }, peered: new Set([0, 2, 4, 6]) } })
    expect([unaware, startOf(given())]).toEqual([
      [0, 2],
      [0, 4],
    ])
  })

  it('without barrier, beside one on its way only copies of the other site start', () => {
    const fixture = {
      ...given(),
      osds: { 0: { needsUpdate: false, isPodReady: false, startedMs: nowMs - 5_000 } },
      record: { startedMs: nowMs - 5_000 },
    }
    expect(startOf(fixture)).toEqual([4])
  })

  it('a batch of Ceph that takes a site its last copy is cut short, for Ceph knows nothing of sites there', () => {
    const snapshot = updateSnapshot(given({ strategy: 'ok-to-stop' }))
    const proposal = known({ by: 'ok-to-stop' as const, osds: [0, 2], asked: [0] })
    expect(decideOsdUpdate({ ...snapshot, proposal }).start).toEqual([0])
  })
})
