import { describe, expect, it } from 'vitest'
import type { UpdatableOsd, UpdateRecord } from './snapshot.ts'
import { sortOsds } from './sort-osds.ts'
import { freshRecord } from './update-record.ts'

const osd = (id: number, given: Partial<UpdatableOsd> = {}): UpdatableOsd => ({
  id,
  deployment: `rook-ceph-osd-${id}`,
  needsUpdate: true,
  isPodReady: true,
  hasStalled: false,
  ...given,
})

function sorted(osds: readonly UpdatableOsd[], record: Partial<UpdateRecord> = {}) {
  const { pending, away, again, back, leftOut } = sortOsds({ osds, ceph: undefined }, { ...freshRecord(1), ...record })
  const ids = (list: readonly UpdatableOsd[]) => list.map(({ id }) => id)
  return { pending: ids(pending), away: ids(away), again: ids(again), back: ids(back), leftOut }
}

const nothing = { pending: [], away: [], again: [], back: [], leftOut: [] }

describe('what is left to update is seen anew each time; there is no queue that could forget or keep a ghost', () => {
  it('is nothing where there is no OSD, or none that differs (56, 58)', () => {
    expect([sorted([]), sorted([osd(0, { needsUpdate: false })])]).toEqual([nothing, nothing])
  })

  it('comes in the order of the ids, whoever was seen first (56)', () => {
    expect(sorted([osd(1), osd(2), osd(7)])).toEqual({ ...nothing, pending: [1, 2, 7] })
  })

  it('loses the first, the middle and the last as they are done, and nobody else; one that is not there is missed by nobody (56)', () => {
    const done = (id: number) => osd(id, { needsUpdate: false })
    expect([
      sorted([done(1), osd(2), osd(7)]).pending,
      sorted([osd(1), done(2), osd(7)]).pending,
      sorted([osd(1), osd(2), done(7)]).pending,
      sorted([osd(1), osd(7)], { failed: [{ osd: 99, why: 'gone', atMs: 1 }] }).pending,
    ]).toEqual([
      [2, 7],
      [1, 7],
      [1, 2],
      [1, 7],
    ])
  })

  it('has none again that was started after the update began: it restarts with what is wanted now', () => {
    const restarting = osd(1, { startedMs: 5_000, isPodReady: false })
    expect([
      sorted([restarting], { startedMs: 4_000 }).again,
      sorted([restarting], { startedMs: 6_000 }).again,
    ]).toEqual([[], [1]])
  })

  it('has one again that differs again after it was done, and not one that failed under this generation (56)', () => {
    const failed = [{ osd: 2, why: 'it was not back', atMs: 1 }]
    const record = { settledMs: 9_000, failed }
    expect(sorted([osd(1, { startedMs: 5_000 }), osd(2, { startedMs: 5_000 })], record)).toEqual({
      ...nothing,
      pending: [1],
    })
  })
})
