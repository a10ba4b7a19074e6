import { expect, it } from 'vitest'
import { buildCephDescription } from './build-ceph-description.ts'
import { parseClusterFile } from './cluster-file.ts'
import type { CephClusterDescription } from './describe-ceph.ts'

it('the simulated Ceph has the same OSDs in the same places, and the same pools', () => {
  const { ceph } = parseClusterFile(
    `
zones: [{ name: x, racks: [left, right] }, { name: y }]
nodes: [{ name: "n-{zone}{n}", zones: [x], count: 2 }, { name: "n-{zone}", zones: [y] }]
ceph:
  osds: { perNode: 2, deviceClass: hdd }
  pools: [{ name: p, replicated: { size: 2 }, pgs: 16 }, { name: ec, erasure: { data: 2, coding: 1 } }]
  pace: { recoveryPgsPerSecond: 2, outAfterSeconds: 30 }
`,
    'my.yaml',
  ) as { ceph: CephClusterDescription }
  const host = (name: string, first: number) => ({
    type: 'host',
    name,
    osds: [
      { id: first, deviceClass: 'hdd' },
      { id: first + 1, deviceClass: 'hdd' },
    ],
  })
  expect(buildCephDescription(ceph)).toEqual({
    namespace: 'rook-ceph',
    clusterName: 'rook-ceph',
    crush: {
      type: 'root',
      name: 'default',
      children: [
        {
          type: 'zone',
          name: 'x',
          children: [
            { type: 'rack', name: 'left', children: [host('n-x1', 0)] },
            { type: 'rack', name: 'right', children: [host('n-x2', 2)] },
          ],
        },
        { type: 'zone', name: 'y', children: [host('n-y', 4)] },
      ],
    },
    pools: [
      { name: 'p', kind: 'replicated', size: 2, minSize: 1, failureDomain: 'host', pgCount: 16 },
      { name: 'ec', kind: 'erasure', size: 3, minSize: 2, failureDomain: 'host', pgCount: 32, k: 2, m: 1 },
    ],
    mons: ['a', 'b', 'c'],
    timings: { recoveryPgsPerSecond: 2, downOutIntervalMs: 30_000 },
  })
})
