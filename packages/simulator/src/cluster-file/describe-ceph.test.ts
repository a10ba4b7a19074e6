import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { describe, expect, it } from 'vitest'
import { parseClusterFile } from './cluster-file.ts'

const zones = 'zones: [{ name: x, racks: [left, right] }, { name: y }, { name: z }]'
const file = (ceph: string, nodes = 'nodes: [{ name: "node-{zone}", count: 1 }]') =>
  `${zones}\n${nodes}\nceph: ${ceph}\n`

function problemsOf(text: string): string[] {
  try {
    parseClusterFile(text, 'my.yaml')
  } catch (error) {
    if (!(error instanceof CofferdamError)) throw error
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim())
  }
  return []
}

describe('a Ceph cluster that can be built', () => {
  it('needs no field at all: one OSD on every node without a taint, three mons as far apart as they can', () => {
    const nodes = `nodes:
      - { name: "node-{zone}{n}", count: 2 }
      - { name: control, zone: x, taints: [{ key: only-control, effect: NoSchedule }] }`
    const { ceph } = parseClusterFile(file('{}', nodes), 'my.yaml')
    expect(ceph).toEqual({
      namespace: 'rook-ceph',
      name: 'rook-ceph',
      deviceClass: 'ssd',
      osds: [
        { id: 0, node: 'node-x1', location: { root: 'default', zone: 'x', rack: 'left', host: 'node-x1' } },
        { id: 1, node: 'node-x2', location: { root: 'default', zone: 'x', rack: 'right', host: 'node-x2' } },
        { id: 2, node: 'node-y1', location: { root: 'default', zone: 'y', host: 'node-y1' } },
        { id: 3, node: 'node-y2', location: { root: 'default', zone: 'y', host: 'node-y2' } },
        { id: 4, node: 'node-z1', location: { root: 'default', zone: 'z', host: 'node-z1' } },
        { id: 5, node: 'node-z2', location: { root: 'default', zone: 'z', host: 'node-z2' } },
      ],
      monNodes: ['node-x1', 'node-y1', 'node-z1'],
      mgrs: 2,
      pools: [],
      rados: [],
      filesystems: [],
      objectStores: [],
      rbdMirrors: 0,
      nfs: [],
      nvmeof: [],
      filesystemMirrors: 0,
      rook: false,
      disruptionManagement: { managePodBudgets: true },
      pace: { recoveryPgsPerSecond: 5, outAfterSeconds: 600 },
    })
  })

  it('brings the pools of its filesystems and object stores along, with the min_size that Ceph would choose', () => {
    const { ceph } = parseClusterFile(
      file(`
  pools:
    - { name: replicapool, failureDomain: zone }
    - { name: two, replicated: { size: 2 }, toolbox: true }
    - { name: ec, failureDomain: zone, erasure: { data: 2, coding: 1 } }
    - { name: .mgr, pgs: 1 }
  filesystems: [{ name: fs, failureDomain: zone }]
  objectStores: [{ name: store }, { name: other, size: 2 }]`),
      'my.yaml',
    )
    const lines = ceph?.rados.map(
      ({ name, kind, size, minSize, failureDomain, pgs, hasResource }) =>
        `${name} ${kind} ${size}/${minSize} ${failureDomain} ${pgs}${hasResource ? '' : ' by hand'}`,
    )
    expect(lines).toEqual([
      'replicapool replicated 3/2 zone 32',
      'two replicated 2/1 host 32 by hand',
      'ec erasure 3/2 zone 32',
      '.mgr replicated 3/2 host 1',
      'fs-metadata replicated 3/2 zone 8',
      'fs-replicated replicated 3/2 zone 8',
      '.rgw.root replicated 3/2 host 8',
      'store.rgw.buckets.index replicated 3/2 host 8',
      'store.rgw.buckets.data replicated 3/2 host 8',
      'other.rgw.buckets.index replicated 2/1 host 8',
      'other.rgw.buckets.data replicated 2/1 host 8',
    ])
  })

  it('names buckets as Rook does, with dashes for dots', () => {
    const nodes = 'nodes: [{ name: "n{n}.{zone}.example" }, { name: m1, zone: x }]'
    const { ceph } = parseClusterFile(file('{ osds: { nodes: [n1.y.example] }, mons: 1 }', nodes), 'my.yaml')
    expect(ceph?.osds).toEqual([
      { id: 0, node: 'n1.y.example', location: { root: 'default', zone: 'y', host: 'n1-y-example' } },
    ])
  })
})

describe('mistakes are told with their place and the way out', () => {
  const cases: Record<string, { given: string; says: string[] }> = {
    'an unknown field': {
      given: file('{ osd: { perNode: 2 } }'),
      says: ['ceph.osd: unknown field; did you mean "osds"?'],
    },
    'more mons than nodes': {
      given: file('{ mons: 5 }'),
      says: ['ceph.mons: 5 mons need a node each, and there are 3 without a taint'],
    },
    'an even number of mons': {
      given: file('{ mons: 2 }'),
      says: ['ceph.mons: 2 mons stand no more losses than 1 do; use an odd number'],
    },
    'a node that is not there': {
      given: file('{ osds: { nodes: [node-w, node-x, node-x] } }'),
      says: [
        'ceph.osds.nodes[0]: "node-w" is not a node; did you mean "node-x"?',
        'ceph.osds.nodes[2]: "node-x" is named twice; perNode says how many OSDs it carries',
      ],
    },
    'a node whose taint keeps OSDs away': {
      given: file(
        '{ osds: { nodes: [control] }, mons: 1 }',
        'nodes: [{ name: control, zone: x, taints: [{ key: c, effect: NoSchedule }] }, { name: n, zone: x }]',
      ),
      says: ['ceph.osds.nodes[0]: "control" has a taint that keeps its OSDs away'],
    },
    'a pool that needs more failure domains than there are': {
      given: file('{ pools: [{ name: p, failureDomain: zone, replicated: { size: 4 } }] }'),
      says: [
        'ceph.pools[0].failureDomain: 4 copies need 4 failure domains of type zone with OSDs, and there are 3 (x, y, z)',
      ],
    },
    'chunks that need more hosts than there are': {
      given: file('{ pools: [{ name: p, erasure: { data: 4, coding: 2 } }] }'),
      says: [
        'ceph.pools[0].failureDomain: 6 chunks need 6 failure domains of type host with OSDs, and there are 3 (node-x, node-y, node-z)',
      ],
    },
    'a type of failure domain that no OSD is in': {
      given: file(
        '{ filesystems: [{ name: fs, failureDomain: rack }] }',
        'nodes: [{ name: "n{n}", zone: y, count: 3 }]',
      ),
      says: [
        'ceph.filesystems[0].failureDomain: 3 copies need 3 failure domains of type rack with OSDs, and there is none',
      ],
    },
    'a type that Rook knows and the file does not': {
      given: file('{ pools: [{ name: p, failureDomain: region }] }'),
      says: ['ceph.pools[0].failureDomain: must be one of osd, host, rack, zone, not "region"'],
    },
    'a min_size above the size': {
      given: file('{ pools: [{ name: p, replicated: { size: 2, minSize: 3 } }] }'),
      says: ['ceph.pools[0].replicated.minSize: 3 is more than the size, 2'],
    },
    'a min_size from which data cannot be read': {
      given: file('{ pools: [{ name: p, erasure: { data: 2, coding: 1, minSize: 1 } }] }'),
      says: ['ceph.pools[0].erasure.minSize: must be from 2 (the data chunks) to 3 (all chunks), not 1'],
    },
    'a pool of two kinds': {
      given: file('{ pools: [{ name: p, replicated: {}, erasure: { data: 2, coding: 1 } }] }'),
      says: ['ceph.pools[0]: is both replicated and erasure; keep one of them'],
    },
    'names that are taken': {
      given: file(`
  pools: [{ name: p }, { name: p }, { name: fs-metadata }]
  filesystems: [{ name: fs }, { name: fs }]`),
      says: [
        'ceph.pools[1].name: "p" is already the name of ceph.pools[0]',
        'ceph.pools[2].name: "fs-metadata" is already a pool of ceph.filesystems[0]',
        'ceph.filesystems[1].name: "fs" is already the name of ceph.filesystems[0]',
      ],
    },
    'a zone and a node that would be one CRUSH bucket': {
      given: file('{ mons: 1 }', 'nodes: [{ name: x, zone: y }, { name: n, zone: x, count: 1 }]'),
      says: ['ceph: zone x and node x would both be the CRUSH bucket "x"; rename one of them'],
    },
    'racks of two zones with one name': {
      given: `zones: [{ name: a, racks: [r] }, { name: b, racks: [r] }]\nnodes: [{ name: "n{n}" }]\nceph: { mons: 1 }`,
      says: ['ceph: rack r of zone b and rack r of zone a would both be the CRUSH bucket "r"; rename one of them'],
    },
    'no node that could carry an OSD': {
      given: file('{}', 'nodes: [{ name: n, zone: x, taints: [{ key: c, effect: NoExecute }] }]'),
      says: [
        'ceph.osds: every node has a taint; name those that carry OSDs in nodes',
        'ceph.mons: 3 mons need a node each, and there are 0 without a taint',
      ],
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { given, says }) => {
    expect(problemsOf(given)).toEqual(says)
  })
})
