import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { decideOsdUpdate } from './decide.ts'
import type { PaceState } from './pace-state.ts'
import type { OsdPace, OsdUpdateSnapshot } from './snapshot.ts'
import { type PacedFixture as Given, opened, paced, passing, resting } from './testing/paced-fixture.ts'
import { nowMs, twoTriples } from './testing/update-fixture.ts'

const openIds = (snapshot: OsdUpdateSnapshot) => decideOsdUpdate(snapshot).record.pace?.open.map(({ osd }) => osd)

const leaving: Record<string, { readonly given: Given; readonly open: readonly number[]; readonly pending: string }> = {
  'Rook has touched neither: both stay open, for it may stop them at any time': {
    given: {},
    open: [0, 1],
    pending: '0 1 2 3 4 5',
  },
  'Rook has changed one and it is back: it leaves the round, and the other stays': {
    given: { osds: { 0: { generation: 2 } } },
    open: [1],
    pending: '1 2 3 4 5',
  },
  'Rook has changed one and its pod is not ready: it stays, for nobody may go beside it': {
    given: { osds: { 0: { generation: 2, isPodReady: false } } },
    open: [0, 1],
    pending: '0 1 2 3 4 5',
  },
  'a pass that was asked for after the opening has ended and changed neither: both leave the round': {
    given: { pace: { pass: { atMs: nowMs - 9_000, isSeen: true } } },
    open: [],
    pending: '2 3 4 5',
  },
  'a pass runs still: what it has not touched yet it may touch next': {
    given: { pace: { pass: { atMs: nowMs - 9_000, isSeen: true } }, rook: passing },
    open: [0, 1],
    pending: '0 1 2 3 4 5',
  },
  'a pass failed before it came to the OSDs: it was no pass for them': {
    given: { pace: { pass: { atMs: nowMs - 9_000, isSeen: true } }, rook: { ...resting, failure: 'no quorum' } },
    open: [0, 1],
    pending: '0 1 2 3 4 5',
  },
  'a pass failed after it had gone through all OSDs: a sick disk elsewhere keeps no OSD open for ever': {
    given: {
      pace: { pass: { atMs: nowMs - 9_000, isSeen: true } },
      rook: { ...resting, failure: '1 failures encountered while running osds', hasFinishedOsds: true },
    },
    open: [],
    pending: '2 3 4 5',
  },
  'Rook does not react until the deadline and nothing of it runs: the round is closed, and drains get the storage': {
    given: { pace: { open: [opened(0, 601), opened(1, 601)] } },
    open: [],
    pending: '0 1 2 3 4 5',
  },
  'Rook does not react and the deadline has come this second: the round is closed': {
    given: { pace: { open: [opened(0, 600), opened(1, 600)] } },
    open: [],
    pending: '0 1 2 3 4 5',
  },
  'the deadline has passed while a pass runs: closing would be a lie, for it has read the labels': {
    given: { pace: { open: [opened(0, 601), opened(1, 601)] }, rook: passing },
    open: [0, 1],
    pending: '0 1 2 3 4 5',
  },
  'Rook is scaled to zero for a minute: the round is closed though its last words were that it works': {
    given: {
      pace: { open: [opened(0, 61), opened(1, 61)] },
      rook: passing,
      operator: { state: 'stopped', images: [] },
    },
    open: [],
    pending: '0 1 2 3 4 5',
  },
  'an OSD has its label still, for the operator died before it took it off: it was never open': {
    given: { osds: { 0: { hold: 'ours' } } },
    open: [1],
    pending: '0 1 2 3 4 5',
  },
  'Rook has changed one to another image than is wanted: it leaves the round and is still to be walked': {
    given: { osds: { 0: { generation: 2, isImageWanted: false } } },
    open: [1],
    pending: '0 1 2 3 4 5',
  },
  'Ceph does not answer: an OSD that Rook changed is not called back by its pod alone': {
    given: { osds: { 0: { generation: 2 } }, world: { ceph: unknown('no answer') } },
    open: [0, 1],
    pending: '0 1 2 3 4 5',
  },
  'a person labels an open OSD: it is his from then on': {
    given: { osds: { 0: { hold: 'theirs' } } },
    open: [1],
    pending: '0 1 2 3 4 5',
  },
}

describe('the round that is open', () => {
  it.each(Object.entries(leaving))('%s', (_, { given, open, pending }) => {
    const { record } = decideOsdUpdate(paced(given))
    expect([record.pace?.open.map(({ osd }) => osd), record.pace?.pending.join(' ')]).toEqual([open, pending])
  })

  it('an OSD that a whole pass left with another image is given up and named, and the others go on', () => {
    const pace = { pass: { atMs: nowMs - 9_000, isSeen: true as const } }
    const { record } = decideOsdUpdate(paced({ pace, osds: { 0: { isImageWanted: false } } }))
    expect([record.failed.map(({ osd }) => osd), record.frozen, record.pace?.open]).toEqual([[0], undefined, []])
  })

  it('starts nothing more while an OSD of it is open', () => {
    expect(decideOsdUpdate(paced({})).start).toEqual([])
  })

  it('an OSD that Rook changed and that does not come back by the deadline freezes the rest, and stays open for its cure', () => {
    const open = [opened(0, 900, { touchedMs: nowMs - 601_000 })]
    const snapshot = paced({ pace: { open }, osds: { 0: { generation: 2, isPodReady: false } } })
    const { record, start } = decideOsdUpdate(snapshot)
    expect([record.frozen?.osd, record.pace?.open.map(({ osd }) => osd), start]).toEqual([0, [0], []])
  })

  it('the time that Rook took to begin is no lateness of the OSD', () => {
    const open = [opened(0, 900, { touchedMs: nowMs - 30_000 })]
    const snapshot = paced({ pace: { open }, osds: { 0: { generation: 2, isPodReady: false } } })
    expect(decideOsdUpdate(snapshot).record.frozen).toBeUndefined()
  })
})

const asking: Record<string, { readonly given: Given; readonly pass: PaceState['pass'] }> = {
  'nothing of Rook runs and nothing is touched: it is asked for': { given: {}, pass: { atMs: nowMs } },
  'a pass runs already, which may not have seen the round: it is asked for when that has ended': {
    given: { rook: passing },
    pass: undefined,
  },
  'the pass has begun: that is remembered, for its end counts only then': {
    given: { rook: passing, pace: { pass: { atMs: nowMs - 5_000 } } },
    pass: { atMs: nowMs - 5_000, isSeen: true },
  },
  'Rook has two minutes to begin': {
    given: { pace: { pass: { atMs: nowMs - 100_000 } } },
    pass: { atMs: nowMs - 100_000 },
  },
  'the pass failed before it came to the OSDs: its begin does not count, for Rook tries again': {
    given: { rook: { ...resting, failure: 'no quorum' }, pace: { pass: { atMs: nowMs - 5_000, isSeen: true } } },
    pass: { atMs: nowMs - 5_000 },
  },
  'the pass is over and one that it changed is not back: no other pass is asked for because of that one': {
    given: {
      osds: { 0: { generation: 2, isPodReady: false } },
      pace: { pass: { atMs: nowMs - 5_000, isSeen: true } },
    },
    pass: { atMs: nowMs - 5_000, isSeen: true },
  },
  'all of the round are changed already: no pass is asked for': {
    given: { osds: { 0: { generation: 2, isPodReady: false }, 1: { generation: 2, isPodReady: false } } },
    pass: undefined,
  },
  'Rook has not begun in two minutes: it is asked again': {
    given: { pace: { pass: { atMs: nowMs - 121_000 } } },
    pass: { atMs: nowMs },
  },
}

describe('the pass of Rook that is asked for', () => {
  it.each(Object.entries(asking))('%s', (_, { given, pass }) => {
    expect(decideOsdUpdate(paced(given)).record.pace?.pass).toEqual(pass)
  })
})

const unclean = { isClean: known(false) }
const noRound = { pace: { open: [] } }
const gates: Record<string, { readonly given: Given; readonly reason: string; readonly says: string }> = {
  'nothing stands in the way: the next round is opened': { given: noRound, reason: 'OsdsUpdating', says: 'start now' },
  'a pass of Rook runs: it may have read labels of before': {
    given: { ...noRound, rook: passing },
    reason: 'WaitsForRook',
    says: 'the next round opens when it ends',
  },
  'an OSD is not held: Rook could stop it beside the round': {
    given: { ...noRound, osds: { 3: { hold: 'none' } } },
    reason: 'WaitsForRook',
    says: 'osd.3 is not held yet',
  },
  'an OSD that Rook replaces is not held, and stops nobody': {
    given: { ...noRound, osds: { 3: { hold: 'none', isExempt: true } } },
    reason: 'OsdsUpdating',
    says: 'start now',
  },
  'Rook is scaled to zero': {
    given: { ...noRound, operator: { state: 'stopped', images: [] } },
    reason: 'RookNotResponding',
    says: 'scale it up',
  },
  'Rook cannot be asked for a pass': {
    given: {
      ...noRound,
      rook: { ...resting, problem: 'ConfigMap rook-config-override, which Rook creates, is missing' },
    },
    reason: 'RookNotResponding',
    says: 'is missing',
  },
  'Rook did not react to the last round: drains get the storage for a while': {
    given: { pace: { open: [], notBeforeMs: nowMs + 60_000 } },
    reason: 'RookNotResponding',
    says: 'asked again in 60 s',
  },
  'data is clean though an OSD is down that is none of the cluster: the next round is opened': {
    given: { ...noRound, world: { map: { ...twoTriples, osds: [{ id: 9, isUp: false }] }, ceph: unclean } },
    reason: 'OsdsUpdating',
    says: 'start now',
  },
  'an OSD is down and data is not clean: Rook would wait for it in the middle of its pass': {
    given: {
      pace: { open: [], pending: [0, 1, 2, 3, 4] },
      world: { map: { ...twoTriples, osds: [{ id: 5, isUp: false, downAt: 5 }] }, ceph: unclean },
    },
    reason: 'WaitsForRook',
    says: "osd.5 is down and data is not clean: Rook's pass may not end while that is so",
  },
  'a round waits for Rook for long, and none has begun: that is reported': {
    given: { pace: { open: [opened(0, 130)] } },
    reason: 'RookNotResponding',
    says: 'it has not begun a pass',
  },
  'a round waits for Rook for long, and its last pass failed: that is reported with the failure': {
    given: { pace: { open: [opened(0, 130)] }, rook: { ...resting, failure: 'no quorum' } },
    reason: 'RookNotResponding',
    says: 'its last pass failed: no quorum',
  },
  'a round waits for Rook for long: that is reported with what to do': {
    given: { pace: { open: [opened(0, 130)] }, rook: passing },
    reason: 'RookNotResponding',
    says: 'kubectl -n rook-ceph logs deploy/rook-ceph-operator',
  },
}

describe('what keeps the next round from being opened', () => {
  it.each(Object.entries(gates))('%s', (_, { given, reason, says }) => {
    const decision = decideOsdUpdate(paced(given))
    expect([decision.reason, decision.explanation]).toEqual([reason, expect.stringContaining(says)])
    expect(decision.start.length > 0).toBe(reason === 'OsdsUpdating')
  })

  it('what Rook does is not known yet: nothing is opened, and what is open stays', () => {
    const { rook: _, ...silent } = paced(noRound)
    const { pace: __, ...first } = silent
    expect([silent, first].map((seen) => decideOsdUpdate(seen).explanation)).toEqual(
      [1, 2].map(() => expect.stringContaining('what Rook does is not known yet')),
    )
    const { rook: ___, ...open } = paced({ pace: { pass: { atMs: nowMs - 121_000 } } })
    expect(decideOsdUpdate(open).record.pace?.pass).toEqual({ atMs: nowMs - 121_000 })
  })

  it('what is opened is on record with the generation of its Deployment, before any label goes', () => {
    const { start, record } = decideOsdUpdate(paced(noRound))
    expect(start.length).toBeGreaterThan(0)
    expect(record.pace).toMatchObject({ open: start.map((osd) => ({ osd, atMs: nowMs, generation: 1 })), rounds: 2 })
  })
})

it('where OSDs are not paced any more it is remembered until the last label of ours is gone', () => {
  const labelled = paced({})
  const plan = {
    ...labelled,
    cluster: { ...labelled.cluster, mode: 'plan' as const },
    record: { ...labelled.record, pace: labelled.pace as PaceState },
  }
  expect(openIds(plan)).toEqual([0, 1])
  const osds = plan.osds.map(({ pace, ...osd }) => ({ ...osd, pace: { ...(pace as OsdPace), hold: 'none' as const } }))
  expect(decideOsdUpdate({ ...plan, osds }).record.pace).toBeUndefined()
})
