import { describe, expect, it } from 'vitest'
import { type ExampleMap, exampleMap } from '../../safety/testing/example-map.ts'
import { CephJudge } from './ceph-judge.ts'

const clean: ExampleMap = { pgs: [{ pg: '1.0', acting: [0, 2, 4] }] }
/** osd.4 is away, and two of three copies are left. */
const hurt: ExampleMap = {
  osds: [{ id: 4, isUp: false, downAt: 5 }],
  pgs: [{ pg: '1.0', state: 'active+undersized+degraded', acting: [0, 2] }],
}
/** Two of four copies have to stay. */
const spare: ExampleMap = {
  hosts: { 'host-a': [0, 1], 'host-b': [2, 3], 'host-c': [4, 5], 'host-d': [6, 7] },
  pools: [{ id: 1, size: 4, minSize: 2 }],
  pgs: [{ pg: '1.0', acting: [0, 2, 4, 6] }],
}

interface Case {
  readonly given: ExampleMap
  readonly gone: readonly number[]
  /** Hosts that may be away. */
  readonly then: readonly string[]
  readonly together?: readonly (readonly string[])[]
}

const cases: Record<string, Case> = {
  'an OSD that Kubernetes has lost and Ceph has up keeps every other host from going: an eviction there would leave one copy':
    { given: clean, gone: [2], then: ['host-b'] },
  'an OSD that Kubernetes has lost and that is one of the last two that serve must stay: its kubelet may be all that is gone':
    { given: hurt, gone: [2], then: ['host-c'] },
  'two hosts that Kubernetes has lost: neither may be let go for the other, since both may serve': {
    given: clean,
    gone: [0, 2],
    then: [],
  },
  'an OSD that Kubernetes has lost counts among those that would go together': {
    given: spare,
    gone: [0],
    then: ['host-a', 'host-b', 'host-c', 'host-d'],
    together: [
      ['host-a', 'host-b'],
      ['host-a', 'host-c'],
      ['host-a', 'host-d'],
    ],
  },
}

describe('what may go while Kubernetes has lost OSDs that Ceph has up', () => {
  it.each(Object.entries(cases))('%s', (_, { given, gone, then, together }) => {
    const { domains, openable } = new CephJudge().judge({
      map: exampleMap(given),
      failureDomainOverride: undefined,
      pattern: undefined,
      isHealthyState: (state) => state === 'active+clean',
      goneOsds: gone,
      maxDomains: together === undefined ? 1 : 2,
      wantedDomains: (view) => view.domains.map(({ domain }) => domain),
    })
    expect(domains.filter(({ verdict }) => verdict.may === 'yes').map(({ domain }) => domain)).toEqual(then)
    expect(openable).toEqual(together)
  })
})
