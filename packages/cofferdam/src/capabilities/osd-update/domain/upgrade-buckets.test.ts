import { describe, expect, it } from 'vitest'
import { exampleMap } from '../../../safety/testing/example-map.ts'
import { upgradeBuckets } from './upgrade-buckets.ts'

const hosts = exampleMap()
const [root, ...hostBuckets] = hosts.crush.buckets
const inRacks = (failureDomain: string, type = 'rack') => ({
  ...hosts,
  crush: {
    ...hosts.crush,
    rules: hosts.crush.rules.map((rule) => ({ ...rule, failureDomain })),
    buckets: [
      { ...root, id: -1, name: 'default', type: 'root', children: [-10, -11] },
      { id: -10, name: 'left', type, children: [-2, -3] },
      { id: -11, name: 'right', type, children: [-4] },
      ...hostBuckets,
    ],
  },
})

describe('which buckets Ceph is asked about for an upgrade', () => {
  const cases: Record<string, { map: typeof hosts; osds: readonly number[]; then: object }> = {
    'the hosts, where copies are spread over hosts': {
      map: inRacks('host'),
      osds: [0, 1, 4],
      then: { 'host-a': [0, 1], 'host-c': [4] },
    },
    'the racks, where copies are spread over racks': {
      map: inRacks('rack'),
      osds: [0, 2, 4],
      then: { left: [0, 2], right: [4] },
    },
    'the hosts below zones, for Ceph takes no zone': {
      map: inRacks('zone', 'zone'),
      osds: [0, 2],
      then: { 'host-a': [0], 'host-b': [2] },
    },
    'an OSD that hangs in no bucket stands for itself': {
      map: { ...hosts, crush: { ...hosts.crush, buckets: [] } },
      osds: [3],
      then: { 'osd.3': [3] },
    },
  }
  it.each(Object.entries(cases))('%s', (_, { map, osds, then }) => {
    expect(Object.fromEntries(upgradeBuckets(map, osds))).toEqual(then)
  })
})
