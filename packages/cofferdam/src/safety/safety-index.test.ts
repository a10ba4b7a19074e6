import { describe, expect, it } from 'vitest'
import { noOsd } from './ceph-map.ts'
import { buildSafetyIndex } from './safety-index.ts'
import { type ExampleMap, exampleMap } from './testing/example-map.ts'
import type { PgTrouble, StopVerdict } from './verdict.ts'

const yes: StopVerdict = { may: 'yes' }
const no = (...troubles: PgTrouble[]): StopVerdict => ({ may: 'no', troubles, troubleCount: troubles.length })
const unknown = (why: string): StopVerdict => ({ may: 'unknown', why })
const inDoubt = (state: string, ...pgs: readonly string[]): StopVerdict => ({
  may: 'no',
  troubles: [],
  troubleCount: 0,
  doubts: pgs.map((pg) => ({ pg, pool: 'rbd', state })),
  doubtCount: pgs.length,
})
const trouble = (pg: string, left: number, floor = 2, pool = 'rbd'): PgTrouble => ({ pg, pool, left, floor })

const clean = { pg: '1.0', acting: [0, 2, 4] }
const down = (id: number, downAt = 5) => ({ id, isUp: false, downAt })

interface Case {
  readonly given: ExampleMap
  readonly reserve?: number
  readonly asked: readonly number[]
  readonly then: StopVerdict
}

const cases: Record<string, Case> = {
  'one of three copies may go while two must stay': { given: { pgs: [clean] }, asked: [0], then: yes },
  'two of three copies may not go together': { given: { pgs: [clean] }, asked: [0, 2], then: no(trouble('1.0', 1)) },
  'an OSD asked for twice costs one copy': { given: { pgs: [clean] }, asked: [0, 0], then: yes },
  'OSDs of different placement groups may go together': {
    given: {
      pgs: [
        { pg: '1.0', acting: [0, 2, 4] },
        { pg: '1.1', acting: [1, 3, 5] },
      ],
    },
    asked: [0, 1],
    then: yes,
  },
  'an OSD without placement groups may go': { given: { pgs: [clean] }, asked: [5], then: yes },
  'a cluster without placement groups holds nothing back': { given: {}, asked: [0, 1, 2, 3, 4, 5], then: yes },
  'with a reserve of one, a pool of three with min_size two holds everything back': {
    given: { pgs: [clean] },
    reserve: 1,
    asked: [0],
    then: no(trouble('1.0', 2, 3)),
  },
  'a reserve that is no number makes every answer about members unknown': {
    given: { pgs: [clean] },
    reserve: Number.NaN,
    asked: [0],
    then: unknown('how many copies pool rbd must keep is not known'),
  },
  'a copy that is down already counts as away, so the next one may not go': {
    given: { osds: [down(0)], pgs: [{ pg: '1.0', state: 'active+undersized+degraded', acting: [2, 4] }] },
    asked: [2],
    then: no(trouble('1.0', 1)),
  },
  'the rest of the host whose OSD is down may go': {
    given: {
      osds: [down(0)],
      pgs: [
        { pg: '1.0', state: 'active+undersized+degraded', acting: [2, 4] },
        { pg: '1.1', acting: [1, 3, 5] },
      ],
    },
    asked: [0, 1],
    then: yes,
  },
  'stopping what is down already costs nothing, even below the floor': {
    given: { osds: [down(0), down(2)], pgs: [{ pg: '1.0', state: 'undersized+degraded+peered', acting: [4] }] },
    asked: [0, 2],
    then: yes,
  },
  'a placement group below its floor loses nothing more, whoever asks': {
    given: { osds: [down(0), down(2)], pgs: [{ pg: '1.0', state: 'undersized+degraded+peered', acting: [4] }] },
    asked: [4],
    then: no(trouble('1.0', 0)),
  },
  'a placement group below its floor does not hold back OSDs that are no members of it': {
    given: {
      osds: [down(0), down(2)],
      pgs: [
        { pg: '1.0', state: 'undersized+degraded+peered', acting: [4] },
        { pg: '1.1', acting: [1, 3, 5] },
      ],
    },
    asked: [1],
    then: yes,
  },
  'a placement group that still finds its members together keeps all of them, also those it is only meant to get': {
    given: { pgs: [{ pg: '1.0', state: 'remapped+peering', acting: [0, 2], up: [0, 2, 4] }] },
    asked: [4],
    then: no(trouble('1.0', 0)),
  },
  'a placement group that nobody answers for keeps its members': {
    given: { pgs: [{ pg: '1.0', state: 'stale+active+clean', acting: [0, 2, 4] }] },
    asked: [0],
    then: no(trouble('1.0', 0)),
  },
  'an erasure-coded placement group counts the shards it has, not its empty places': {
    given: {
      pools: [{ id: 2, name: 'ec', kind: 'erasure', size: 3, minSize: 2 }],
      pgs: [
        { pg: '2.0', state: 'active+undersized+degraded', acting: [noOsd, 2, 4] },
        { pg: '2.1', acting: [1, 2, 5] },
      ],
    },
    asked: [2],
    then: no(trouble('2.0', 1, 2, 'ec')),
  },
  'an OSD that stands in one placement group twice is one copy': {
    given: { pgs: [{ pg: '1.0', acting: [0, 2, 2] }] },
    asked: [0],
    then: no(trouble('1.0', 1)),
  },
  'a member that the OSD map does not have is no copy': {
    given: { pgs: [{ pg: '1.0', acting: [0, 2, 77] }] },
    asked: [0],
    then: no(trouble('1.0', 1)),
  },
  'four copies with min_size two can spare one more while one is away': {
    given: {
      pools: [{ id: 1, size: 4 }],
      osds: [down(5)],
      pgs: [{ pg: '1.0', state: 'active+undersized+degraded', acting: [0, 2, 4] }],
    },
    asked: [0],
    then: yes,
  },
  'while it recovers, nobody says which copy is complete: not even one may go': {
    given: { pgs: [{ pg: '1.0', state: 'active+recovering+degraded', acting: [0, 2, 4] }] },
    asked: [4],
    then: unknown('a copy of 1 placement group may lack objects (1.0)'),
  },
  'a recovery does not hide that too few copies would be left in any case': {
    given: { pgs: [{ pg: '1.0', state: 'active+recovery_wait+degraded', acting: [0, 2, 4] }] },
    asked: [0, 4],
    then: no(trouble('1.0', 1)),
  },
  'the target of a recovery, which is no acting member, may go': {
    given: {
      pgs: [{ pg: '1.0', state: 'active+recovering+undersized+degraded+remapped', acting: [2, 4], up: [2, 4, 0] }],
    },
    asked: [0],
    then: yes,
  },
  'a state with a word that is new to us is not trusted': {
    given: { pgs: [{ pg: '1.0', state: 'active+clean+upside_down', acting: [0, 2, 4] }] },
    asked: [0],
    then: inDoubt('active+clean+upside_down', '1.0'),
  },
  'a copy that a scrub found damaged is not counted on': {
    given: {
      pgs: ['1.0', '1.a', '1.3', '1.20'].map((pg) => ({ pg, state: 'active+clean+inconsistent', acting: [0, 2, 4] })),
    },
    asked: [0],
    then: inDoubt('active+clean+inconsistent', '1.0', '1.3', '1.a', '1.20'),
  },
  'a damaged placement group holds the OSDs that it is on and no others, or one bad copy would stop every drain for days':
    {
      given: { pgs: [{ pg: '1.0', state: 'active+clean+inconsistent', acting: [0, 2, 4] }] },
      asked: [1, 3, 5],
      then: yes,
    },
  'a placement group in lasting doubt also holds where it is meant to be': {
    given: {
      pgs: [{ pg: '1.0', state: 'active+remapped+backfill_unfound+degraded', acting: [0, 2, 4], up: [0, 2, 5] }],
    },
    asked: [5],
    then: inDoubt('active+remapped+backfill_unfound+degraded', '1.0'),
  },
  'what would be short of copies comes before what may be damaged': {
    given: {
      pgs: [
        { pg: '1.0', state: 'active+clean+inconsistent', acting: [0, 2, 4] },
        { pg: '1.1', state: 'active+undersized+degraded', acting: [0, 2] },
      ],
    },
    asked: [0],
    then: { may: 'no', troubles: [trouble('1.1', 1)], troubleCount: 1 },
  },
  'a recovery under way is soon over, and what is not known yet holds everything': {
    given: {
      pgs: [
        { pg: '1.0', state: 'active+clean+inconsistent', acting: [0, 2, 4] },
        { pg: '1.1', state: 'active+recovering+degraded', acting: [0, 2, 4] },
      ],
    },
    asked: [0],
    then: unknown('a copy of 1 placement group may lack objects (1.1)'),
  },
  'while it moves, one OSD of the old set may go': {
    given: { pgs: [{ pg: '1.0', state: 'active+remapped+backfilling', acting: [0, 2, 4], up: [0, 2, 5] }] },
    asked: [4],
    then: yes,
  },
  'while it moves within a host, the whole host may go': {
    given: { pgs: [{ pg: '1.0', state: 'active+remapped+backfilling', acting: [0, 2, 4], up: [0, 2, 5] }] },
    asked: [4, 5],
    then: yes,
  },
  'the set that it moves to must keep its floor too, for the move may end before the OSDs stop': {
    given: { pgs: [{ pg: '1.0', state: 'active+remapped+backfilling', acting: [0, 2, 4], up: [0, 2, 5] }] },
    asked: [0, 5],
    then: no(trouble('1.0', 1)),
  },
  'a set that CRUSH cannot fill replaces nothing, so only the acting set counts': {
    given: { pgs: [{ pg: '1.0', state: 'active+remapped+backfill_wait', acting: [0, 2, 4], up: [0, 2] }] },
    asked: [0],
    then: yes,
  },
  'a report from before an OSD went down makes the answer unknown': {
    given: { osds: [down(0, 9)], pgs: [{ pg: '1.0', acting: [0, 2, 4], reported: 8 }] },
    asked: [2],
    then: unknown('osd.0 went down in epoch 9, 1 placement group has not reported since'),
  },
  'a report from the epoch of the change counts': {
    given: {
      osds: [down(0, 9)],
      pgs: [{ pg: '1.0', state: 'active+undersized+degraded', acting: [2, 4], reported: 9 }],
    },
    asked: [2],
    then: no(trouble('1.0', 1)),
  },
  'a report from before an OSD came up makes the answer unknown, and the newest change is named': {
    given: {
      osds: [
        { id: 0, upFrom: 9, downAt: 5 },
        { id: 1, upFrom: 8, downAt: 5 },
      ],
      pgs: [
        { pg: '1.0', acting: [2, 4], up: [0, 2, 4], reported: 7 },
        { pg: '1.1', acting: [1, 2, 4], reported: 6 },
      ],
    },
    asked: [2],
    then: unknown('osd.0 came up in epoch 9 (and 1 more changed), 2 placement groups have not reported since'),
  },
  'an old report holds back only the OSDs that it is about': {
    given: {
      osds: [down(0, 9)],
      pgs: [
        { pg: '1.0', acting: [0, 2, 4], reported: 8 },
        { pg: '1.1', acting: [1, 3, 5], reported: 8 },
      ],
    },
    asked: [1],
    then: yes,
  },
  'an old report does not hide that another placement group would fall below its floor': {
    given: {
      osds: [down(0, 9)],
      pgs: [
        { pg: '1.0', acting: [0, 2, 4], reported: 8 },
        { pg: '1.1', state: 'active+undersized+degraded', acting: [2, 5] },
      ],
    },
    asked: [2],
    then: no(trouble('1.1', 1)),
  },
  'an OSD map older than a report proves nothing about who is up': {
    given: { epoch: 10, pgs: [{ pg: '1.0', acting: [0, 2, 4], reported: 11 }] },
    asked: [1],
    then: unknown('the OSD map of epoch 10 is older than a report from epoch 11'),
  },
  'after a restart of the manager, when nobody knows whose placement groups are whose, nothing may go': {
    given: { pgs: [clean, { pg: '1.1', state: 'unknown', acting: [], reported: 0 }] },
    asked: [5],
    then: unknown('1 placement group has not been reported by any OSD yet'),
  },
  'a placement group that claims to be clean without any member is as good as unreported': {
    given: { pgs: [{ pg: '1.0', acting: [noOsd, noOsd] }] },
    asked: [5],
    then: unknown('1 placement group has not been reported by any OSD yet'),
  },
  'a pool that the map does not have makes the answers about its members unknown': {
    given: { pgs: [{ pg: '7.0', acting: [0, 2, 4] }] },
    asked: [0],
    then: unknown('how many copies pool number 7 must keep is not known'),
  },
  'a pool that the map does not have says nothing about other OSDs': {
    given: {
      pgs: [
        { pg: '7.0', acting: [0, 2, 4] },
        { pg: '1.0', acting: [1, 3, 5] },
      ],
    },
    asked: [1],
    then: yes,
  },
  'a min_size of zero is none': {
    given: { pools: [{ id: 1, minSize: 0 }], pgs: [clean] },
    asked: [0],
    then: unknown('how many copies pool rbd must keep is not known'),
  },
  'an OSD that the map does not have is not waved through, as Ceph does': {
    given: { pgs: [clean] },
    asked: [99],
    then: unknown('the OSD map has no osd.99'),
  },
  'an OSD number beyond all reason is not taken in': {
    given: { osds: [{ id: 2_000_000_000 }], pgs: [clean] },
    asked: [2_000_000_000],
    then: unknown('the OSD map has no osd.2000000000'),
  },
  'several OSDs that the map does not have are named in order, however they were asked for': {
    given: { pgs: [clean] },
    asked: [99, 97, 98],
    then: unknown('the OSD map has no osd.97, osd.98, osd.99'),
  },
  'of many OSDs that the map does not have three are named, or the sentence would fill a screen': {
    given: { pgs: [clean] },
    asked: [99, 97, 98, 96, 95],
    then: unknown('the OSD map has no osd.95, osd.96, osd.97 and 2 more'),
  },
  'every pool whose floor is not known is named': {
    given: {
      pgs: [
        { pg: '8.0', acting: [0, 2, 4] },
        { pg: '7.0', acting: [0, 2, 4] },
      ],
    },
    asked: [0],
    then: unknown('how many copies pools number 7, number 8 must keep is not known'),
  },
  'every placement group that recovers is named, in order': {
    given: {
      pgs: ['1.a', '1.2'].map((pg) => ({ pg, state: 'active+recovering+degraded', acting: [0, 2, 4] })),
    },
    asked: [4],
    then: unknown('copies of 2 placement groups may lack objects (1.2, 1.a)'),
  },
  'of many damaged placement groups five are shown, and all are counted': {
    given: {
      pgs: ['1.6', '1.5', '1.4', '1.3', '1.2', '1.1'].map((pg) => ({
        pg,
        state: 'active+clean+inconsistent',
        acting: [0, 2, 4],
      })),
    },
    asked: [0],
    then: {
      may: 'no',
      troubles: [],
      troubleCount: 0,
      doubts: ['1.1', '1.2', '1.3', '1.4', '1.5'].map((pg) => ({
        pg,
        pool: 'rbd',
        state: 'active+clean+inconsistent',
      })),
      doubtCount: 6,
    },
  },
  'of changes in one epoch the first OSD is named, so that the same facts give the same sentence': {
    given: {
      osds: [down(4, 9), down(0, 9), down(2, 8)],
      pgs: [{ pg: '1.0', acting: [4, 2, 0, 5], up: [5], reported: 7 }],
    },
    asked: [5],
    then: unknown('osd.0 went down in epoch 9 (and 2 more changed), 1 placement group has not reported since'),
  },
  'an OSD that came back in the epoch in which it went down has come up': {
    given: { osds: [{ id: 0, upFrom: 9, downAt: 9 }], pgs: [{ pg: '1.0', acting: [0, 2, 4], reported: 8 }] },
    asked: [2],
    then: unknown('osd.0 came up in epoch 9, 1 placement group has not reported since'),
  },
  'all OSDs that have just come up are counted, and the first is named': {
    given: {
      osds: [3, 1, 0].map((id) => ({ id, upFrom: 9, downAt: 7 })),
      pgs: [{ pg: '1.0', state: 'active+undersized+degraded', acting: [2, 4], reported: 8 }],
    },
    asked: [3, 1, 0],
    then: unknown('placement group 1.0 is short of copies and has not reported since osd.0 came up (and 2 more OSDs)'),
  },
  'a set with an empty place replaces nothing either: a shard that is nowhere is no member': {
    given: {
      pools: [{ id: 2, name: 'ec', kind: 'erasure', size: 3, minSize: 2 }],
      pgs: [{ pg: '2.0', state: 'active+remapped+backfill_wait', acting: [0, 2, 4], up: [0, 2, noOsd] }],
    },
    asked: [0],
    then: yes,
  },
  'a negative number in a row is no member': {
    given: { pgs: [{ pg: '1.0', state: 'active+remapped+backfilling', acting: [0, 2, 4], up: [0, 2, -1] }] },
    asked: [0],
    then: yes,
  },
  'a reserve below zero is none: it would let the last copies go': {
    given: { pgs: [clean] },
    reserve: -1,
    asked: [0],
    then: unknown('how many copies pool rbd must keep is not known'),
  },
  'a reserve of half a copy is none': {
    given: { pgs: [clean] },
    reserve: 0.5,
    asked: [0],
    then: unknown('how many copies pool rbd must keep is not known'),
  },
  'a placement group that stands still without a member is not taken for unreported: others may go': {
    given: {
      pgs: [
        { pg: '1.0', state: 'incomplete', acting: [noOsd] },
        { pg: '1.1', acting: [1, 3, 5] },
      ],
    },
    asked: [1],
    then: yes,
  },
  'where five are as bad as can be, a sixth that is no worse is counted and not shown': {
    given: {
      pgs: ['1.1', '1.2', '1.3', '1.4', '1.5', '1.6', '1.7'].map((pg) => ({ pg, acting: [0, 2, 4] })),
    },
    asked: [0, 2],
    then: {
      may: 'no',
      troubles: ['1.1', '1.2', '1.3', '1.4', '1.5'].map((pg) => trouble(pg, 1)),
      troubleCount: 7,
    },
  },
  'a placement group of an earlier pool comes before one with a lower number': {
    given: {
      pools: [{ id: 1 }, { id: 2, name: 'other' }],
      pgs: [
        { pg: '2.1', acting: [0, 2, 4] },
        { pg: '1.5', acting: [0, 2, 4] },
      ],
    },
    asked: [0, 2],
    then: no(trouble('1.5', 1), trouble('2.1', 1, 2, 'other')),
  },
  'the worst five are shown in order, and all are counted': {
    given: {
      pools: [{ id: 1 }, { id: 2, name: 'wide', size: 5, minSize: 4 }],
      osds: [down(1)],
      pgs: [
        ...['1.5', '1.4', '1.3', '1.2', '1.1'].map((pg) => ({ pg, acting: [0, 2, 4] })),
        { pg: '2.1f', state: 'active+undersized+degraded', acting: [0, 2, 3, 4] },
      ],
    },
    asked: [0, 2],
    then: {
      may: 'no',
      troubles: [trouble('2.1f', 2, 4, 'wide'), ...['1.1', '1.2', '1.3', '1.4'].map((pg) => trouble(pg, 1))],
      troubleCount: 6,
    },
  },
}

describe('may these OSDs stop', () => {
  for (const [sentence, { given, reserve, asked, then }] of Object.entries(cases)) {
    it(sentence, () => {
      const index = buildSafetyIndex(exampleMap(given), reserve === undefined ? {} : { reserve })
      expect(index.mayStop(asked)).toEqual(then)
      expect(index.mayStop(asked), 'the same question, asked again').toEqual(then)
    })
  }
})

describe('failure domains', () => {
  const map = exampleMap({
    osds: [down(0)],
    pgs: [
      { pg: '1.0', state: 'active+undersized+degraded', acting: [2, 4] },
      { pg: '1.1', acting: [1, 3, 5] },
    ],
  })

  it('while a host is half down, that host may go and the others may not', () => {
    expect(buildSafetyIndex(map).domainVerdicts('host')).toEqual([
      { domain: 'host-a', osds: [0, 1], verdict: yes },
      { domain: 'host-b', osds: [2, 3], verdict: no(trouble('1.0', 1)) },
      { domain: 'host-c', osds: [4, 5], verdict: no(trouble('1.0', 1)) },
    ])
  })

  it('a type without buckets has no domains', () => {
    expect(buildSafetyIndex(map).domainVerdicts('rack')).toEqual([])
  })

  it('two domains are judged as one set', () => {
    const index = buildSafetyIndex(exampleMap({ pgs: [clean] }))
    expect([
      index.mayStopDomains('host', ['host-a']),
      index.mayStopDomains('host', ['host-a', 'host-b']),
      index.mayStopDomains('host', []),
    ]).toEqual([yes, no(trouble('1.0', 1)), yes])
  })

  it('a domain that CRUSH does not have is unknown, unless the others are refused anyway', () => {
    const index = buildSafetyIndex(exampleMap({ pgs: [clean] }))
    expect([
      index.mayStopDomains('host', ['host-a', 'host-q']),
      index.mayStopDomains('host', ['host-a', 'host-b', 'host-q']),
    ]).toEqual([unknown('CRUSH has no host with OSDs called host-q'), no(trouble('1.0', 1))])
  })

  it('one OSD more down changes the answers of the domains that share its placement groups, and no others', () => {
    const before = buildSafetyIndex(exampleMap({ pgs: [clean, { pg: '1.1', acting: [1, 3] }] }))
    before.domainVerdicts('host')
    const after = before.withOsd({ id: 0, isUp: false })
    expect(after.domainVerdicts('host')).toEqual([
      { domain: 'host-a', osds: [0, 1], verdict: no(trouble('1.1', 1)) },
      {
        domain: 'host-b',
        osds: [2, 3],
        verdict: { may: 'no', troubles: [trouble('1.0', 1), trouble('1.1', 1)], troubleCount: 2 },
      },
      { domain: 'host-c', osds: [4, 5], verdict: no(trouble('1.0', 1)) },
    ])
    expect(after.map.osds[0]).toEqual({ id: 0, isUp: false, isIn: true, upFrom: 1, downAt: 0 })
    expect(before.mayStop([2]), 'the index it came from still answers for its own map').toEqual(yes)
  })

  it('a change that changes nothing gives the same index back', () => {
    const index = buildSafetyIndex(map)
    expect(index.withOsd({ id: 0, isUp: false })).toBe(index)
    expect(index.withOsd({ id: 99, isUp: true })).toBe(index)
  })
})
