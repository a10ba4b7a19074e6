import { describe, expect, it } from 'vitest'
import { judgeCeph } from './judge-ceph.ts'
import { isHealthyPgState } from './pg-health.ts'
import { buildSafetyIndex } from './safety-index.ts'
import { exampleMap } from './testing/example-map.ts'

const map = exampleMap({
  hosts: { 'host-a': [0], 'host-b': [1], 'host-c': [2] },
  osds: [{ id: 0, isUp: false, downAt: 5 }],
  pgs: [{ pg: '1.0', state: 'active+undersized+degraded', acting: [2, 1] }],
  bucketFlags: { 'host-c': ['nodown'], 'host-b': ['noout', 'noin'], 'host-a': ['noout'] },
})
const input = { failureDomainOverride: undefined, isHealthyState: isHealthyPgState, disagreements: ['host-b'] }
const held = { may: 'no', troubles: [{ pg: '1.0', pool: 'rbd', left: 1, floor: 2 }], troubleCount: 1 }

describe('one map of Ceph, judged', () => {
  it('says who is up, how the data is, what may go, and where noout is set', () => {
    expect(judgeCeph({ ...input, index: buildSafetyIndex(map) })).toEqual({
      epoch: 10,
      upOsds: [1, 2],
      pgs: { health: 'unclean', dirtyStates: { 'active+undersized+degraded': 1 } },
      failureDomainType: 'host',
      domains: [
        { domain: 'host-a', osds: [0], verdict: { may: 'yes' } },
        { domain: 'host-b', osds: [1], verdict: held },
        { domain: 'host-c', osds: [2], verdict: held },
      ],
      nooutBuckets: ['host-a', 'host-b'],
      disagreements: ['host-b'],
    })
  })

  it('names OSDs in order, however the map lists them', () => {
    const index = buildSafetyIndex({ ...map, osds: [...map.osds].reverse() })
    expect(judgeCeph({ ...input, index }).upOsds).toEqual([1, 2])
  })

  it('judges the domains of the type that an override names, and still tells what the rules say', () => {
    const { failureDomainType, domains } = judgeCeph({
      ...input,
      index: buildSafetyIndex(map),
      failureDomainOverride: 'root',
    })
    expect([failureDomainType, domains]).toEqual([
      'host',
      [{ domain: 'default', osds: [0, 1, 2], verdict: { ...held, troubles: [{ ...held.troubles[0], left: 0 }] } }],
    ])
  })
})
