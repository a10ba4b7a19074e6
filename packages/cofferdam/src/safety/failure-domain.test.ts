import { describe, expect, it } from 'vitest'
import type { CrushBucket } from './ceph-map.ts'
import { domainOfOsd, domainsOf, failureDomainTypeOf } from './failure-domain.ts'
import { mapProblems } from './map-problems.ts'
import { exampleMap } from './testing/example-map.ts'

const ruleIds: Record<string, number> = { osd: 0, host: 1, rack: 2, zone: 3, region: 4, shelf: 5 }
const rules = Object.entries(ruleIds).map(([failureDomain, id]) => ({
  id,
  name: `by-${failureDomain}`,
  failureDomain,
  root: 'default',
}))

const typeFor = (...domains: string[]) =>
  failureDomainTypeOf(
    exampleMap({
      crush: { rules },
      pools: domains.map((domain, at) => ({ id: at + 1, name: `by-${domain}`, crushRuleId: ruleIds[domain] ?? 99 })),
    }),
  )

describe('the failure domain type of a cluster', () => {
  const cases: Record<string, { pools: string[]; type: string; problems?: { object: string; problem: string }[] }> = {
    'the narrowest type of all pools decides: region and zone give zone': { pools: ['region', 'zone'], type: 'zone' },
    'region, zone and host give host': { pools: ['region', 'zone', 'host'], type: 'host' },
    'region alone gives region': { pools: ['region'], type: 'region' },
    'without pools it is host': { pools: [], type: 'host' },
    'a pool spread over OSDs only does not decide, and is reported': {
      pools: ['rack', 'osd'],
      type: 'rack',
      problems: [
        {
          object: 'pool/by-osd',
          problem: 'its CRUSH rule by-osd spreads copies over OSDs only: the loss of one host can take several',
        },
      ],
    },
    'a pool with an unknown rule is reported, and the others decide': {
      pools: ['lost', 'zone'],
      type: 'zone',
      problems: [{ object: 'pool/by-lost', problem: 'its CRUSH rule 99 is not in the CRUSH map' }],
    },
    'when no pool can decide it is host': {
      pools: ['shelf'],
      type: 'host',
      problems: [
        {
          object: 'pool/by-shelf',
          problem: 'its CRUSH rule by-shelf spreads over shelf, which the CRUSH map does not have',
        },
      ],
    },
  }
  it('a rule that names no type is reported as such', () => {
    const map = exampleMap({ crush: { rules: [{ id: 0, name: 'empty', failureDomain: '', root: 'default' }] } })
    expect(mapProblems({ ...map, repeatedOsds: [4] })).toEqual([
      {
        object: 'osd/4',
        problem: 'ceph osd dump lists it several times; it counts once, and as down if one of the entries says so',
      },
      {
        object: 'pool/rbd',
        problem: 'its CRUSH rule empty spreads over no type, which the CRUSH map does not have',
      },
    ])
  })

  for (const [sentence, { pools, type, problems = [] }] of Object.entries(cases)) {
    it(sentence, () => {
      expect(typeFor(...pools)).toEqual({ type, problems })
    })
  }
})

describe('the domains of a type', () => {
  const bucket = (id: number, name: string, type: string, ...children: number[]): CrushBucket => ({
    id,
    name,
    type,
    children,
  })
  const crushed = (osds: number[], ...buckets: CrushBucket[]) =>
    exampleMap({ hosts: {}, osds: osds.map((id) => ({ id })), crush: { buckets } })

  const zones = crushed(
    [0, 1, 2, 3, 8],
    bucket(-1, 'default', 'root', -2, -3),
    bucket(-10, 'archive', 'root', -11),
    bucket(-2, 'zone-y', 'zone', -5, -4),
    bucket(-3, 'zone-x', 'zone', -6),
    bucket(-4, 'node-b', 'host', 0),
    bucket(-5, 'node-a', 'host', 3, 1),
    bucket(-6, 'node-c', 'host', 2),
    bucket(-11, 'zone-z', 'zone', -12),
    bucket(-12, 'node-z', 'host', 8),
  )

  it('gathers the OSDs below each bucket, over all roots, in the order of names', () => {
    expect(domainsOf(zones, 'zone')).toEqual({
      osdsByDomain: new Map([
        ['zone-x', [2]],
        ['zone-y', [0, 1, 3]],
        ['zone-z', [8]],
      ]),
      problems: [],
    })
    expect([...domainsOf(zones, 'zone').osdsByDomain.keys()]).toEqual(['zone-x', 'zone-y', 'zone-z'])
  })

  it('has a bucket and OSDs in order however CRUSH lists them: the first by name wins', () => {
    const map = crushed([5, 3, 9, 1], bucket(-3, 'node-b', 'host', 3), bucket(-2, 'node-a', 'host', 3))
    expect([domainOfOsd(map, 'host', 3), domainsOf(map, 'host').problems.map(({ object }) => object)]).toEqual([
      'node-a',
      ['osd/3', 'osd/1', 'osd/5', 'osd/9'],
    ])
  })

  it('a bucket that CRUSH names and does not have is no OSD', () => {
    const map = crushed([0], bucket(-2, 'node-a', 'host', 0, -9))
    expect(domainsOf(map, 'host')).toEqual({ osdsByDomain: new Map([['node-a', [0]]]), problems: [] })
  })

  it('an OSD that a bucket has twice counts once', () => {
    const map = crushed([0], bucket(-2, 'node-a', 'host', 0, -3), bucket(-3, 'tray', 'chassis', 0))
    expect(domainsOf(map, 'host').osdsByDomain).toEqual(new Map([['node-a', [0]]]))
  })

  it('finds the domain of one OSD', () => {
    expect([domainOfOsd(zones, 'zone', 3), domainOfOsd(zones, 'host', 3), domainOfOsd(zones, 'rack', 3)]).toEqual([
      'zone-y',
      'node-a',
      undefined,
    ])
  })

  it('reports an OSD outside every bucket of the type, and keeps the others', () => {
    const map = crushed([0, 1], bucket(-1, 'default', 'root', 1, -2), bucket(-2, 'node-a', 'host', 0))
    expect(domainsOf(map, 'host')).toEqual({
      osdsByDomain: new Map([['node-a', [0]]]),
      problems: [{ object: 'osd/1', problem: 'it is in no host of the CRUSH map' }],
    })
  })

  it('leaves out an OSD that no longer exists, and a bucket that has none', () => {
    const map = crushed([0], bucket(-2, 'node-a', 'host', 0, 7), bucket(-3, 'node-b', 'host'))
    expect(domainsOf(map, 'host')).toEqual({
      osdsByDomain: new Map([['node-a', [0]]]),
      problems: [{ object: 'osd/7', problem: 'node-a has it, but the OSD map does not' }],
    })
  })

  it('an OSD that stands in two buckets goes with both, and is reported', () => {
    const map = crushed([0, 1], bucket(-2, 'node-a', 'host', 0), bucket(-3, 'node-b', 'host', 0, 1))
    expect(domainsOf(map, 'host')).toEqual({
      osdsByDomain: new Map([
        ['node-a', [0]],
        ['node-b', [0, 1]],
      ]),
      problems: [{ object: 'osd/0', problem: 'it is in both node-a and node-b' }],
    })
  })

  it('a bucket that contains itself ends the walk, not the program', () => {
    const map = crushed([0], bucket(-2, 'node-a', 'host', -3, 0), bucket(-3, 'ring', 'chassis', -2))
    expect(domainsOf(map, 'host').osdsByDomain).toEqual(new Map([['node-a', [0]]]))
  })
})
