import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { decideOsdUpdate } from './decide.ts'
import { arbiter, entry, ours } from './testing/storage-entries.ts'
import { away, type UpdateFixture, updateSnapshot } from './testing/update-fixture.ts'

describe('the storage key of an update', () => {
  const hold = {
    wants: 'hold',
    requestId: 'osd-update/uid-1',
    holder: 'osd-update of rook-ceph/rook-ceph',
    claim: { key: 'storage/rook-ceph/rook-ceph', uid: 'uid-1', scope: '' },
  }
  const claims: Record<string, { given: UpdateFixture; claim: unknown }> = {
    'is asked for with all failure domains when the first OSDs are to start': {
      given: { arbiter: arbiter() },
      claim: hold,
    },
    'stays held while an OSD is on its way': {
      given: { arbiter: arbiter({ others: [ours] }), needing: [], osds: { 0: away(5) } },
      claim: hold,
    },
    'is given back when nothing runs and all data is clean': {
      given: { arbiter: arbiter({ others: [ours] }), needing: [] },
      claim: { wants: 'release' },
    },
    'stays held while data is not clean yet': {
      given: { arbiter: arbiter({ others: [ours] }), needing: [], ceph: { isClean: known(false) } },
      claim: undefined,
    },
    'is given back when all that is not clean waits for a repair, or every drain would wait for that for days': {
      given: {
        arbiter: arbiter({ others: [ours] }),
        needing: [],
        ceph: { isClean: known(false), isAtRest: true },
      },
      claim: { wants: 'release' },
    },
    'stays held while it is not known whether data is clean': {
      given: { arbiter: arbiter({ others: [ours] }), needing: [], ceph: unknown('no answer') },
      claim: undefined,
    },
    'is left to the drain whose node all that are on their way wait for: neither would ever end': {
      given: {
        arbiter: arbiter({ others: [ours] }),
        needing: [],
        osds: { 0: { ...away(5), isNodeCordoned: true } },
        ceph: { isClean: known(false) },
      },
      claim: { wants: 'release' },
    },
    'stays held while another one is on its way than those whose node is drained': {
      given: {
        arbiter: arbiter({ others: [ours] }),
        needing: [],
        osds: { 0: { ...away(5), isNodeCordoned: true }, 1: away(5) },
      },
      claim: hold,
    },
    'is not asked for while somebody else holds a part': {
      given: { arbiter: arbiter({ others: [entry({})] }) },
      claim: undefined,
    },
    'is given back at once when the cluster is being deleted': {
      given: { arbiter: arbiter({ others: [ours] }), cluster: { isBeingDeleted: true }, ceph: unknown('gone') },
      claim: { wants: 'release' },
    },
    'is given back to a drain that waits, when nothing runs and all data is clean': {
      given: {
        arbiter: arbiter({
          others: [ours],
          tickets: [{ requestId: 'drain-1', number: 1, holder: 'a drain', since: '', claims: [] }],
        }),
      },
      claim: { wants: 'release' },
    },
  }
  for (const [name, { given, claim }] of Object.entries(claims)) {
    it(name, () => {
      expect(decideOsdUpdate(updateSnapshot(given)).claim).toEqual(claim)
    })
  }

  it('names who holds it, so that a user knows whom to ask', () => {
    expect(decideOsdUpdate(updateSnapshot({ arbiter: arbiter({ others: [entry({})] }) })).explanation).toBe(
      'the drain of node-a holds host-a of storage/rook-ceph/rook-ceph since 2026-11-15T08:00:00Z and is first in the queue',
    )
  })
})
