import { describe, expect, it } from 'vitest'
import { explainTroubles } from '../capabilities/ceph-drain/domain/answers.ts'
import type { CrushBucket } from './ceph-map.ts'
import { poolSitesOf } from './pool-sites.ts'
import { buildSafetyIndex } from './safety-index.ts'
import { type ExampleMap, exampleMap } from './testing/example-map.ts'
import type { StopVerdict } from './verdict.ts'

const bucket = (id: number, type: string, name: string, children: readonly number[]): CrushBucket => ({
  id,
  type,
  name,
  children,
})

/** North has one rack of two hosts, south has two racks of one host each. */
const stretched: ExampleMap = {
  hosts: { n1: [0, 1], n2: [2, 3], s1: [4, 5], s2: [6, 7] },
  crush: {
    buckets: [
      bucket(-1, 'root', 'default', [-20, -21]),
      bucket(-20, 'datacenter', 'north', [-10]),
      bucket(-21, 'datacenter', 'south', [-11, -12]),
      bucket(-10, 'rack', 'rack-n', [-2, -3]),
      bucket(-11, 'rack', 'rack-s1', [-4]),
      bucket(-12, 'rack', 'rack-s2', [-5]),
      bucket(-2, 'host', 'n1', [0, 1]),
      bucket(-3, 'host', 'n2', [2, 3]),
      bucket(-4, 'host', 's1', [4, 5]),
      bucket(-5, 'host', 's2', [6, 7]),
    ],
  },
  pools: [{ id: 1, name: 'vm', size: 4, minSize: 2 }],
  sites: [{ poolIds: [1], type: 'datacenter' }],
  pgs: [
    { pg: '1.0', acting: [0, 2, 4, 6] },
    { pg: '1.1', acting: [1, 3, 5, 7] },
  ],
}

function words(verdict: StopVerdict): string {
  return verdict.may === 'no' ? explainTroubles(verdict) : verdict.may
}

function asked(osds: readonly number[], change: Partial<ExampleMap> = {}): string {
  return words(buildSafetyIndex(exampleMap({ ...stretched, ...change })).mayStop(osds))
}

describe('a pool that is stretched over two sites', () => {
  it('has an OSD that CRUSH lists on both counted on one, always the same: on two it would hold a site that is empty', () => {
    const { crush } = exampleMap(stretched)
    const buckets = crush.buckets.map((each) => (each.name === 's1' ? { ...each, children: [0, 4, 5] } : each))
    const map = exampleMap({ ...stretched, crush: { buckets } })
    const [sites] = poolSitesOf(map, map.sites ?? []).get(1) ?? []
    expect([0, 4].map((osd) => sites?.siteOf.get(osd))).toEqual(['north', 'south'])
  })

  it('refuses to let the only rack of a site go: two copies would be left, but its placement groups would not peer', () => {
    const verdicts = buildSafetyIndex(exampleMap(stretched)).domainVerdicts('rack')
    expect(verdicts.map(({ domain, verdict }) => `${domain}: ${words(verdict)}`)).toEqual([
      'rack-n: placement group 1.0 of pool vm would have no copy left in datacenter north, and must keep one on each site and 1 more',
      'rack-s1: yes',
      'rack-s2: yes',
    ])
  })

  it('lets that rack go where the pool is not stretched, as min_size allows', () => {
    expect(words(buildSafetyIndex(exampleMap({ ...stretched, sites: [] })).mayStop([0, 1, 2, 3]))).toBe('yes')
  })

  it('says so in numbers too', () => {
    expect(buildSafetyIndex(exampleMap(stretched)).mayStop([4, 6])).toEqual({
      may: 'no',
      troubles: [{ pg: '1.0', pool: 'vm', left: 2, floor: 2, lostSite: 'datacenter south' }],
      troubleCount: 1,
    })
  })

  const cases: Readonly<Record<string, readonly [readonly number[], Partial<ExampleMap>, string]>> = {
    'lets one copy of each site go': [[0, 4], {}, 'yes'],
    'lets two OSDs of a site go that share no placement group': [[0, 3], {}, 'yes'],
    'refuses the second copy of a site while the first is down': [
      [2],
      {
        pools: [{ id: 1, name: 'vm', size: 4, minSize: 1 }],
        osds: [{ id: 0, isUp: false, downAt: 5 }],
        pgs: [{ pg: '1.0', acting: [2, 4, 6], state: 'active+undersized+degraded' }],
      },
      'placement group 1.0 of pool vm would have no copy left in datacenter north, and must keep one on each site',
    ],
    'asks nothing more of a site that is lost already': [
      [4],
      {
        pools: [{ id: 1, name: 'vm', size: 4, minSize: 1 }],
        osds: [0, 1, 2, 3].map((id) => ({ id, isUp: false, downAt: 5 })),
        pgs: [{ pg: '1.0', acting: [4, 6], state: 'active+undersized+degraded' }],
      },
      'yes',
    ],
    'refuses the only copy of a site in the set that a backfill may put in place': [
      [0],
      { pgs: [{ pg: '1.0', acting: [0, 2, 4, 6], up: [0, 5, 4, 6], state: 'active+remapped+backfilling' }] },
      'placement group 1.0 of pool vm would have no copy left in datacenter north, and must keep one on each site',
    ],
    'lets a copy go that would be the only one of its site in a set that CRUSH cannot fill: that set replaces nothing':
      [
        [0],
        { pgs: [{ pg: '1.0', acting: [0, 2, 4, 6], up: [0, 4, 6], state: 'active+remapped+backfill_wait' }] },
        'yes',
      ],
    'tells of too few copies before it tells of a site': [
      [0, 2, 4],
      {},
      'placement group 1.0 of pool vm would be left with 1 of the 2 it needs',
    ],
    'holds those together that are on no site': [
      [8],
      { osds: [{ id: 8 }], pgs: [{ pg: '1.0', acting: [0, 2, 4, 6, 8] }] },
      'placement group 1.0 of pool vm would have no copy left in what is outside every datacenter, and must keep one on each site',
    ],
  }
  it.each(Object.entries(cases))('%s', (_, [osds, change, then]) => {
    expect(asked(osds, change)).toBe(then)
  })

  it('is judged anew when an OSD of the site is gone, whatever Ceph says of it', () => {
    const index = buildSafetyIndex(exampleMap(stretched))
    const before = index.domainVerdicts('host')
    const gone = index.withOsd({ id: 0, isUp: false })
    expect(before.map(({ verdict }) => verdict.may)).toEqual(['yes', 'yes', 'yes', 'yes'])
    expect(gone.domainVerdicts('host').map(({ domain, verdict }) => `${domain}: ${words(verdict)}`)).toEqual([
      'n1: yes',
      'n2: placement group 1.0 of pool vm would have no copy left in datacenter north, and must keep one on each site',
      's1: yes',
      's2: yes',
    ])
  })
})
