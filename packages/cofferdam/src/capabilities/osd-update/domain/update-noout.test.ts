import { describe, expect, it } from 'vitest'
import { exampleMap } from '../../../safety/testing/example-map.ts'
import { decideOsdUpdate, needsCeph } from './decide.ts'
import { away, nowMs, osdDown, twoTriples, type UpdateFixture, updateSnapshot } from './testing/update-fixture.ts'

const flagged = (...ids: number[]) => ({ ...twoTriples, osds: ids.map((id) => ({ id, hasNoout: true as const })) })
const late = { osd: 0, why: 'not back', atMs: nowMs }

interface Case {
  readonly given: UpdateFixture
  readonly set?: readonly number[]
  readonly unset?: readonly number[]
  /** What is recorded as ours. */
  readonly own?: readonly number[]
}

const cases: Readonly<Record<string, Case>> = {
  'OSDs that are to stop get noout first, or Ceph copies their data for nothing': {
    given: {},
    set: [0, 1],
    own: [0, 1],
  },
  'an OSD that an administrator has put noout on keeps it: it is neither set nor recorded': {
    given: { map: flagged(0) },
    set: [1],
    own: [1],
  },
  'while it restarts it keeps the flag': {
    given: { needing: [0], osds: { 0: away(30) }, map: flagged(0), record: { noout: [0] } },
    own: [0],
  },
  'an OSD that is back loses it, and it stays recorded until Ceph shows it gone': {
    given: { needing: [], osds: { 0: { startedMs: nowMs - 1 } }, map: flagged(0), record: { noout: [0] } },
    unset: [0],
    own: [0],
  },
  'the flag is set for all OSDs already: none is set or recorded, so that none is taken away later': {
    given: { ceph: { map: { ...exampleMap(twoTriples), flags: ['noout'] } } },
  },
  'what Ceph shows gone is forgotten': { given: { needing: [], record: { noout: [0] } } },
  'a flag of an administrator on another OSD is never unset': {
    given: { needing: [], map: flagged(0, 3), record: { noout: [0] } },
    unset: [0],
    own: [0],
  },
  'a flag that was taken away by hand while the OSD restarts is not set again': {
    given: { needing: [0], osds: { 0: away(30) }, record: { noout: [0] } },
    own: [0],
  },
  'an OSD that did not come back loses it with the freeze, so that Ceph makes its data whole elsewhere': {
    given: {
      needing: [1],
      osds: { 0: away(700) },
      map: flagged(0),
      record: { noout: [0], failed: [late], frozen: late },
    },
    unset: [0],
    own: [0],
  },
  'an OSD that was down before gets none: its data has to move': {
    given: { needing: [0], osds: { 0: { isPodReady: false } }, map: { osds: [osdDown(0)], pgs: [] } },
  },
  'where updates are switched off what is left of ours is taken away': {
    given: { cluster: { mode: 'off' }, needing: [], map: flagged(0), record: { noout: [0] } },
    unset: [0],
    own: [0],
  },
  'so it is where the CephCluster is being deleted in the middle of a restart': {
    given: {
      cluster: { isBeingDeleted: true },
      needing: [],
      osds: { 0: away(5) },
      map: flagged(0),
      record: { noout: [0] },
    },
    unset: [0],
    own: [0],
  },
}

describe('noout of OSDs that are updated', () => {
  it.each(Object.entries(cases))('%s', (_, { given, set = [], unset = [], own = [] }) => {
    const { noout, record } = decideOsdUpdate(updateSnapshot(given))
    expect([noout?.set ?? [], noout?.unset ?? [], record.noout ?? []]).toEqual([set, unset, own])
  })

  it('is on record still after a change of the CephCluster, and Ceph is asked until it is gone: a crash leaves none behind', () => {
    const snapshot = updateSnapshot({ needing: [], map: flagged(0), record: { noout: [0], generation: 0 } })
    const { ceph: _, ...unasked } = snapshot
    expect([needsCeph(unasked), decideOsdUpdate(snapshot).noout?.unset]).toEqual([true, [0]])
  })
})
