import { describe, expect, it } from 'vitest'
import { noOsd } from './ceph-map.ts'
import { type ProbeQuestion, probeQuestion } from './probe-question.ts'
import { exampleMap } from './testing/example-map.ts'

const cases: Record<string, { given: Parameters<typeof exampleMap>[0]; then: ProbeQuestion | undefined }> = {
  'two of three copies are asked for, and not the last: the wrong answer of Ceph 20.2.4 is only seen without it': {
    given: { pgs: [{ pg: '1.1b', state: 'active+clean', acting: [4, 0, 2] }] },
    then: { osds: [4, 0], group: '1.1b' },
  },
  'a set that hurts another group through its last member is only asked when there is no better one: the faulty release says no to it as well':
    {
      given: {
        pgs: [
          { pg: '1.0', state: 'active+clean', acting: [0, 2, 4] },
          { pg: '1.1', state: 'active+clean', acting: [2, 5, 0] },
          { pg: '1.2', state: 'active+clean', acting: [1, 3, 5] },
        ],
      },
      then: { osds: [2, 5], group: '1.1' },
    },
  'one group of several that end in the same OSD is enough to spoil a question': {
    given: {
      pgs: [
        { pg: '1.0', state: 'active+clean', acting: [0, 2, 4] },
        { pg: '1.1', state: 'active+clean', acting: [5, 2, 0] },
        { pg: '1.2', state: 'active+clean', acting: [3, 5, 0] },
        { pg: '1.3', state: 'active+clean', acting: [1, 3, 5] },
      ],
    },
    then: { osds: [5, 2], group: '1.1' },
  },
  'a group of a pool that the map does not have spoils no question: nobody can say that it would be hurt': {
    given: {
      pgs: [
        { pg: '1.0', state: 'active+clean', acting: [0, 2, 4] },
        { pg: '9.0', state: 'active+clean', acting: [2, 5, 0] },
        { pg: '1.2', state: 'active+clean', acting: [1, 3, 5] },
      ],
    },
    then: { osds: [0, 2], group: '1.0' },
  },
  'a group of a pool that the map does not have is no question': {
    given: { pgs: [{ pg: '9.0', state: 'active+clean', acting: [4, 0, 2] }] },
    then: undefined,
  },
  'a group that misses a copy shows nothing for certain, the next one is taken': {
    given: {
      pgs: [
        { pg: '1.0', state: 'active+undersized+degraded', acting: [0, 2] },
        { pg: '1.1', state: 'active+clean', acting: [2, 4, 1] },
      ],
    },
    then: { osds: [2, 4], group: '1.1' },
  },
  'chunks of an erasure-coded group count as copies do': {
    given: {
      pools: [{ id: 1, kind: 'erasure', size: 4, minSize: 3 }],
      pgs: [{ pg: '1.0', state: 'active+clean', acting: [0, 2, 4, 1] }],
    },
    then: { osds: [0, 2], group: '1.0' },
  },
  'a member that is down or missing makes the group useless as a question': {
    given: {
      osds: [{ id: 0, isUp: false }],
      pgs: [
        { pg: '1.0', state: 'active+clean', acting: [0, 2, 4] },
        { pg: '1.1', state: 'active+clean', acting: [noOsd, 2, 4] },
      ],
    },
    then: undefined,
  },
  'a pool that needs one copy only would need all of them asked for, which even a wrong Ceph answers rightly': {
    given: { pools: [{ id: 1, size: 3, minSize: 1 }], pgs: [{ pg: '1.0', state: 'active+clean', acting: [0, 2, 4] }] },
    then: undefined,
  },
  'a cluster without data has no question': { given: { pgs: [] }, then: undefined },
}

describe('a question to which Ceph must say no', () => {
  it.each(Object.entries(cases))('%s', (_sentence, { given, then }) => {
    expect(probeQuestion(exampleMap(given))).toEqual(then)
  })
})
