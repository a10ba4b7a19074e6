import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { decideGrowth, type GrowthDecision, type GrowthSnapshot } from './decide-growth.ts'
import type { PrepareJob } from './prepare-job.ts'
import {
  generationAnnotation,
  nonceAnnotation,
  type ParsedPrepareStatus,
  parsePrepareStatus,
  troubleAnnotation,
  usedAnnotation,
} from './prepare-status.ts'

interface Told {
  readonly status?: unknown
  readonly osds?: unknown
  readonly message?: string
  readonly generation?: number
  readonly isUsed?: boolean
  readonly nonce?: string
  readonly trouble?: string
  readonly text?: string
}

function statusMap(place: string, told: Told = {}): ConfigMap {
  const { status = 'completed', osds = [], message, generation = 2, isUsed = false, nonce = `of ${place}`, text } = told
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: `rook-ceph-osd-${place}-status`,
      labels: { app: 'rook-ceph-osd', node: place },
      annotations: {
        [generationAnnotation]: String(generation),
        [nonceAnnotation]: nonce,
        ...(isUsed && { [usedAnnotation]: 'true' }),
        ...(told.trouble !== undefined && { [troubleAnnotation]: told.trouble }),
      },
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
  isOurs: true,
  nonce: `of ${place}`,
})
const places = (...names: string[]) => names.map((name) => ({ name, asked: '2' }))
const uuidOf = (id: number) => `00000000-0000-4000-8000-00000000000${id}`
const told = (id: number) => ({ id, uuid: uuidOf(id) })
const newOsd = (id: number, place: string) => ({ id, uuid: uuidOf(id), node: place, location: { host: place } })
const ceph = known(new Map([0, 1, 2, 3, 4, 5, 9].map((id) => [id, uuidOf(id)])))
const nothing: GrowthDecision = {
  create: [],
  prepare: [],
  cleanJobs: [],
  used: [],
  cleanStatuses: [],
  errors: [],
  awaited: [],
  unusable: [],
  needsCeph: false,
}

function decided(given: Partial<GrowthSnapshot>): GrowthDecision {
  return decideGrowth({
    generation: 2,
    isBeingDeleted: false,
    places: places('a'),
    jobs: [],
    statuses: [],
    existing: new Set(),
    ceph,
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
      statuses: [parsed('a', { osds: [told(1), told(4)] })],
      existing: new Set([1]),
    },
    decision: {
      create: [newOsd(4, 'a')],
      used: ['rook-ceph-osd-a-status'],
    },
  },
  'a Job goes when its result is used up, for until then it is the proof of it': {
    given: { jobs: [job('a', 'succeeded')], statuses: [parsed('a', { osds: [told(4)], isUsed: true })] },
    decision: { cleanJobs: ['rook-ceph-osd-prepare-a'] },
  },
  'a result that an earlier generation left behind is ignored and written over, and the place is looked at anew (63)': {
    given: { statuses: [parsed('a', { osds: [told(4)], generation: 1 })] },
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
      jobs: [job('b'), job('c', 'succeeded')],
      statuses: [parsed('c', { osds: [told(4)] })],
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
    given: { statuses: [parsed('a', { osds: [told(4)], isUsed: true })] },
    decision: {},
  },
  'a result is used up in the same step as its OSDs are made, so one that cannot be made holds up nothing (66)': {
    given: {
      places: places('a', 'b'),
      jobs: [job('a', 'succeeded'), job('b', 'succeeded')],
      statuses: [parsed('a', { osds: [told(4)] }), parsed('b', { osds: [told(5)] })],
    },
    decision: {
      create: [newOsd(4, 'a'), newOsd(5, 'b')],
      used: ['rook-ceph-osd-a-status', 'rook-ceph-osd-b-status'],
    },
  },
  'places that failed are told of, and the healthy one gets its OSD (67)': {
    given: {
      places: places('a', 'b', 'c'),
      jobs: [job('b', 'succeeded'), job('c', 'failed')],
      statuses: [
        parsed('a', { status: 'failed', message: 'no disk is empty' }),
        parsed('b', { osds: [told(9)] }),
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
  'a Job that ended well and left no result is an error of its place: it would be awaited for ever': {
    given: { jobs: [job('a', 'succeeded')] },
    decision: { errors: [{ place: 'a', why: 'Job rook-ceph-osd-prepare-a ended without a result' }] },
  },
  'what went wrong when a result was used is said as long as it is there, for nothing else tells of that disk': {
    given: { statuses: [parsed('a', { isUsed: true, trouble: 'osd.4 was refused: no quota' })] },
    decision: { errors: [{ place: 'a', why: 'osd.4 was refused: no quota' }] },
  },
  'after an interruption the OSDs that are still missing are made, and no other (67)': {
    given: {
      jobs: [job('a', 'succeeded')],
      statuses: [parsed('a', { osds: [told(0), told(1), told(2), told(3)] })],
      existing: new Set([0, 1]),
    },
    decision: { create: [newOsd(2, 'a'), newOsd(3, 'a')], used: ['rook-ceph-osd-a-status'] },
  },
  'a result that cannot be read is an error of its place, and nothing of it is made (51)': {
    given: { statuses: [parsed('a', { osds: [told(1), { id: 'two' }] })] },
    decision: { errors: [{ place: 'a', why: 'rook-ceph-osd-a-status: its osds[1] has no id that is a whole number' }] },
  },
  'an OSD that two places report is made once, and told of (54)': {
    given: {
      places: places('a', 'b'),
      jobs: [job('a', 'succeeded'), job('b', 'succeeded')],
      statuses: [parsed('a', { osds: [told(4)] }), parsed('b', { osds: [told(4)] })],
    },
    decision: {
      create: [newOsd(4, 'a')],
      used: ['rook-ceph-osd-a-status', 'rook-ceph-osd-b-status'],
      errors: [{ place: 'b', why: 'osd.4 is reported by another place too' }],
    },
  },
  'a Job that does not say what was asked goes with its place, for it would hold the disk for ever': {
    given: { places: [], jobs: [{ ...job('a'), asked: undefined }] },
    decision: { cleanJobs: ['rook-ceph-osd-prepare-a'] },
  },
  'a place that is not wanted any more loses its Job, and its OSDs are not made': {
    given: { places: [], jobs: [job('a')], statuses: [parsed('a', { osds: [told(4)] })] },
    decision: { cleanJobs: ['rook-ceph-osd-prepare-a'] },
  },
  'a cluster that is being deleted makes nothing, and its Jobs go': {
    given: { isBeingDeleted: true, jobs: [job('a')], statuses: [parsed('b', { osds: [told(4)] })] },
    decision: { cleanJobs: ['rook-ceph-osd-prepare-a'] },
  },
}

const wayOut = 'check who edits it, then annotate the CephCluster with cofferdam.io/prepare-again'
const refusal = (why: string) => [{ place: 'a', why: `ConfigMap rook-ceph-osd-a-status is refused: ${why}; ${wayOut}` }]
const forged = (osd: object, given: Partial<GrowthSnapshot> = {}) => ({
  jobs: [job('a', 'succeeded')],
  statuses: [parsed('a', { osds: [{ ...told(4), ...osd }] })],
  ...given,
})

const forgeries: Record<string, { given: Partial<GrowthSnapshot>; decision: Partial<GrowthDecision> }> = {
  'a result that nobody of ours prepared makes no privileged pod, whatever it reports': {
    given: forged({}, { jobs: [] }),
    decision: { errors: refusal('no prepare Job of this operator gave it') },
  },
  'a result that is there before its Job has ended is not looked into yet': {
    given: forged({}, { jobs: [job('a')] }),
    decision: { awaited: ['a'] },
  },
  'a result of a Job that failed makes nothing': {
    given: forged({}, { jobs: [job('a', 'failed')] }),
    decision: { errors: refusal('Job rook-ceph-osd-prepare-a failed') },
  },
  'a result of another Job of the same name makes nothing': {
    given: forged({}, { jobs: [{ ...job('a', 'succeeded'), nonce: 'of another' }] }),
    decision: { errors: refusal('it is not the result of Job rook-ceph-osd-prepare-a') },
  },
  'a Job that somebody else put there proves nothing': {
    given: forged({}, { jobs: [{ ...job('a', 'succeeded'), isOurs: false }] }),
    decision: { errors: refusal('Job rook-ceph-osd-prepare-a is not owned by the CephCluster') },
  },
  'an OSD that Ceph does not know is not made': {
    given: forged({ id: 7, uuid: uuidOf(7) }),
    decision: { errors: refusal('osd.7 is not known to Ceph') },
  },
  'an OSD with the UUID of another is not made': {
    given: forged({ uuid: uuidOf(5) }),
    decision: { errors: refusal(`osd.4 has UUID ${uuidOf(4)} in Ceph, and ${uuidOf(5)} in the result`) },
  },
  'a UUID that is a path into the host mounts nothing': {
    given: forged({ uuid: '../../etc' }),
    decision: { errors: refusal('osd.4 has "../../etc" for a UUID') },
  },
  'a disk that is a path out of /dev is not opened': {
    given: forged({ 'lv-path': '/dev/../etc/shadow' }),
    decision: { errors: refusal('osd.4 has "/dev/../etc/shadow" for its blockPath') },
  },
  'an OSD of this node cannot be counted to another host, whose drains it would hold up': {
    given: forged({ location: 'root=default host=b' }),
    decision: { errors: refusal('osd.4 is said to be on host b, and the result is that of a') },
  },
  'a place that is a node has no OSD on a volume claim of its name': {
    given: {
      jobs: [job('a', 'succeeded')],
      statuses: [
        parsed('a', { text: JSON.stringify({ status: 'completed', 'pvc-backed-osd': true, osds: [told(4)] }) }),
      ],
    },
    decision: { errors: refusal('osd.4 is said to be on a volume claim') },
  },
  'one forged OSD among good ones spoils the whole result, for half of it would pass for all': {
    given: forged({}, { statuses: [parsed('a', { osds: [told(4), { id: 7, uuid: uuidOf(7) }] })] }),
    decision: { errors: refusal('osd.7 is not known to Ceph') },
  },
  'more OSDs than disks were named are not made': {
    given: forged(
      {},
      {
        places: [{ name: 'a', asked: '2', mostOsds: 1 }],
        statuses: [parsed('a', { osds: [told(4), told(5)] })],
      },
    ),
    decision: { errors: refusal('it reports 2 new OSDs, and at most 1 can come of what was asked') },
  },
  'while Ceph does not say which OSDs it knows, none is made, and it is asked again': {
    given: forged({}, { ceph: unknown('no answer within 15 s') }),
    decision: { awaited: ['a'], needsCeph: true },
  },
}

describe('the growth of a cluster', () => {
  for (const [name, { given, decision }] of Object.entries({ ...cases, ...forgeries })) {
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
        nonce: 'of node-a',
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
