import { describe, expect, it } from 'vitest'
import type { ConfigMap } from '../../api/core.ts'
import { decideGrowth, type GrowthDecision, type GrowthSnapshot, type PrepareJob } from './decide-growth.ts'
import { generationAnnotation, type ParsedPrepareStatus, parsePrepareStatus, usedAnnotation } from './prepare-status.ts'

interface Told {
  readonly status?: unknown
  readonly osds?: unknown
  readonly message?: string
  readonly generation?: number
  readonly isUsed?: boolean
  readonly text?: string
}

function statusMap(place: string, told: Told = {}): ConfigMap {
  const { status = 'completed', osds = [], message, generation = 2, isUsed = false, text } = told
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: `rook-ceph-osd-${place}-status`,
      labels: { app: 'rook-ceph-osd', node: place },
      annotations: { [generationAnnotation]: String(generation), ...(isUsed && { [usedAnnotation]: 'true' }) },
    },
    data: { status: text ?? JSON.stringify({ status, osds, message }) },
  }
}

function parsed(place: string, told?: Told): ParsedPrepareStatus {
  return parsePrepareStatus(statusMap(place, told)) as ParsedPrepareStatus
}

const job = (place: string, state: PrepareJob['state'] = 'active', asked = '2'): PrepareJob => ({
  name: `rook-ceph-osd-prepare-${place}`,
  place,
  asked,
  state,
})
const places = (...names: string[]) => names.map((name) => ({ name, asked: '2' }))
const newOsd = (id: number, place: string) => ({ id, node: place, location: { host: place } })
const nothing: GrowthDecision = {
  create: [],
  prepare: [],
  cleanJobs: [],
  used: [],
  cleanStatuses: [],
  errors: [],
  awaited: [],
  unusable: [],
}

function decided(given: Partial<GrowthSnapshot>): GrowthDecision {
  return decideGrowth({
    generation: 2,
    isBeingDeleted: false,
    places: places('a'),
    jobs: [],
    statuses: [],
    existing: new Set(),
    ...given,
  })
}

const cases: Record<string, { given: Partial<GrowthSnapshot>; decision: Partial<GrowthDecision> }> = {
  'a place that nobody has looked at gets its prepare Job': { given: {}, decision: { prepare: ['a'] } },
  'a Job that runs is waited for, and for nothing else': {
    given: { jobs: [job('a')], statuses: [parsed('a', { status: 'orchestrating' })] },
    decision: { awaited: ['a'] },
  },
  'only OSDs without a Deployment are created (65)': {
    given: {
      jobs: [job('a', 'succeeded')],
      statuses: [parsed('a', { osds: [{ id: 1 }, { id: 4 }] })],
      existing: new Set([1]),
    },
    decision: {
      create: [newOsd(4, 'a')],
      cleanJobs: ['rook-ceph-osd-prepare-a'],
      used: ['rook-ceph-osd-a-status'],
    },
  },
  'a result that an earlier generation left behind is ignored and written over, and the place is looked at anew (63)': {
    given: { statuses: [parsed('a', { osds: [{ id: 4 }], generation: 1 })] },
    decision: { prepare: ['a'] },
  },
  'what is left of a place that is gone is swept when the cluster changes, and kept until then, for it may come back': {
    given: { places: [], statuses: [parsed('a', { generation: 1 }), parsed('b')] },
    decision: { cleanStatuses: ['rook-ceph-osd-a-status'] },
  },
  'a disk that is written down, or the wish to look again, has just that place looked at anew': {
    given: {
      places: [
        { name: 'a', asked: '2 disks=sdc' },
        { name: 'b', asked: '2' },
      ],
      statuses: [parsed('a', { isUsed: true }), parsed('b', { isUsed: true })],
    },
    decision: { prepare: ['a'] },
  },
  'a node that is cordoned is not prepared and not forgotten: its result counts, and its Job goes on': {
    given: {
      places: ['a', 'b', 'c'].map((name) => ({ name, asked: '2', unusable: 'the node is cordoned' })),
      jobs: [job('b')],
      statuses: [parsed('c', { osds: [{ id: 4 }] })],
    },
    decision: {
      create: [newOsd(4, 'c')],
      used: ['rook-ceph-osd-c-status'],
      awaited: ['b'],
      unusable: [{ place: 'a', why: 'the node is cordoned' }],
    },
  },
  'a Job of an earlier generation goes before the new one comes, for they have the same name (63)': {
    given: { jobs: [job('a', 'active', '1')] },
    decision: { cleanJobs: ['rook-ceph-osd-prepare-a'], awaited: ['a'] },
  },
  'a result is used once: an OSD that somebody removed since is not made again (64)': {
    given: { statuses: [parsed('a', { osds: [{ id: 4 }], isUsed: true })] },
    decision: {},
  },
  'a result is used up in the same step as its OSDs are made, so one that cannot be made holds up nothing (66)': {
    given: {
      places: places('a', 'b'),
      statuses: [parsed('a', { osds: [{ id: 4 }] }), parsed('b', { osds: [{ id: 5 }] })],
    },
    decision: {
      create: [newOsd(4, 'a'), newOsd(5, 'b')],
      used: ['rook-ceph-osd-a-status', 'rook-ceph-osd-b-status'],
    },
  },
  'places that failed are told of, and the healthy one gets its OSD (67)': {
    given: {
      places: places('a', 'b', 'c'),
      jobs: [job('c', 'failed')],
      statuses: [
        parsed('a', { status: 'failed', message: 'no disk is empty' }),
        parsed('b', { osds: [{ id: 9 }] }),
        parsed('c', { status: 'starting' }),
      ],
    },
    decision: {
      create: [newOsd(9, 'b')],
      used: ['rook-ceph-osd-b-status'],
      errors: [
        { place: 'a', why: 'no disk is empty' },
        { place: 'c', why: 'Job rook-ceph-osd-prepare-c failed before it gave a result' },
      ],
    },
  },
  'after an interruption the OSDs that are still missing are made, and no other (67)': {
    given: {
      statuses: [parsed('a', { osds: [{ id: 0 }, { id: 1 }, { id: 2 }, { id: 3 }] })],
      existing: new Set([0, 1]),
    },
    decision: { create: [newOsd(2, 'a'), newOsd(3, 'a')], used: ['rook-ceph-osd-a-status'] },
  },
  'a result that cannot be read is an error of its place, and nothing of it is made (51)': {
    given: { statuses: [parsed('a', { osds: [{ id: 1 }, { id: 'two' }] })] },
    decision: { errors: [{ place: 'a', why: 'rook-ceph-osd-a-status: its osds[1] has no id that is a whole number' }] },
  },
  'an OSD that two places report is made once, and told of (54)': {
    given: {
      places: places('a', 'b'),
      statuses: [parsed('a', { osds: [{ id: 4 }] }), parsed('b', { osds: [{ id: 4 }] })],
    },
    decision: {
      create: [newOsd(4, 'a')],
      used: ['rook-ceph-osd-a-status', 'rook-ceph-osd-b-status'],
      errors: [{ place: 'b', why: 'osd.4 is reported by another place too' }],
    },
  },
  'a place that is not wanted any more loses its Job, and its OSDs are not made': {
    given: { places: [], jobs: [job('a')], statuses: [parsed('a', { osds: [{ id: 4 }] })] },
    decision: { cleanJobs: ['rook-ceph-osd-prepare-a'] },
  },
  'a cluster that is being deleted makes nothing, and its Jobs go': {
    given: { isBeingDeleted: true, jobs: [job('a')], statuses: [parsed('b', { osds: [{ id: 4 }] })] },
    decision: { cleanJobs: ['rook-ceph-osd-prepare-a'] },
  },
}

describe('the growth of a cluster', () => {
  for (const [name, { given, decision }] of Object.entries(cases)) {
    it(name, () => {
      expect(decided(given)).toEqual({ ...nothing, ...decision })
    })
  }
})

describe('the status of a prepare Job', () => {
  it('tells of each OSD where it is and what it is on', () => {
    const osds = [
      {
        id: 7,
        'device-class': 'ssd',
        store: 'bluestore',
        encrypted: true,
        location: 'root=default zone=z1 host=node-a',
      },
    ]
    expect(parsed('node-a', { osds })).toEqual({
      status: {
        name: 'rook-ceph-osd-node-a-status',
        place: 'node-a',
        asked: '2',
        state: 'completed',
        osds: [
          {
            id: 7,
            node: 'node-a',
            location: { root: 'default', zone: 'z1', host: 'node-a' },
            deviceClass: 'ssd',
            store: 'bluestore',
            isEncrypted: true,
          },
        ],
        message: '',
        isUsed: false,
      },
    })
  })

  it('is bound to no node when the OSD is on a volume', () => {
    const text = JSON.stringify({ status: 'completed', 'pvc-backed-osd': true, osds: [{ id: 2 }] })
    expect(parsed('set1-data-0', { text })).toMatchObject({
      status: { osds: [{ id: 2, node: undefined, location: {}, pvc: 'set1-data-0' }] },
    })
  })

  const broken: Record<string, string> = {
    '{': 'its key status is no JSON',
    '[]': 'its key status is no JSON object',
    '{"status":"done"}': 'its status "done" is none of starting, orchestrating, completed, failed',
    '{"status":"completed","osds":{}}': 'its osds are no list',
  }
  for (const [text, problem] of Object.entries(broken)) {
    it(`is a problem of its own place when it says ${text}`, () => {
      expect(parsed('a', { text })).toEqual({ name: 'rook-ceph-osd-a-status', place: 'a', asked: '2', problem })
    })
  }

  it('is looked for in no ConfigMap of another name or kind', () => {
    const other = statusMap('a')
    const names = [
      { ...other, metadata: { ...other.metadata, name: 'rook-ceph-pdbstatemap' } },
      { ...other, metadata: { ...other.metadata, labels: {} } },
    ]
    expect(names.map(parsePrepareStatus)).toEqual([undefined, undefined])
  })
})
