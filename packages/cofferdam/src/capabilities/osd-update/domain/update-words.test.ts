import { expect, it } from 'vitest'
import { decideOsdUpdate } from './decide.ts'
import { type UpdateFixture, updateSnapshot } from './testing/update-fixture.ts'
import { freshRecord } from './update-record.ts'
import { updateWords } from './update-words.ts'

const ids = [0, 1, 2, 3, 4, 5]
const words = (given: UpdateFixture) => {
  const { reason, explanation } = decideOsdUpdate(updateSnapshot(given))
  return [reason, explanation]
}

it('OSDs that are left alone are counted where all others are done: an administrator has to know of them', () => {
  const leftAlone = 'its Deployment is scaled to zero'
  const osds = Object.fromEntries(ids.map((id) => [id, { leftAlone }]))
  expect([words({ needing: [] }), words({ needing: [0, 3], osds })]).toEqual([
    ['OsdsUpToDate', 'no OSD needs an update'],
    ['OsdsUpToDate', 'no OSD needs an update but 2 OSDs left alone'],
  ])
})

it('it is said whose the Deployments are where that is contested, and that none is touched', () => {
  const [reason, explanation] = words({ cluster: { mode: 'contested' } })
  expect([reason, explanation]).toEqual(['OwnershipContested', expect.stringContaining('no OSD Deployment is touched')])
})

it('of many mons and mgrs that are behind a few are named, and the others counted', () => {
  const daemonsBehind = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => `rook-ceph-mon-${id} runs ceph:old`)
  expect(words({ cluster: { isUpgrade: true, daemonsBehind } })[1]).toContain(
    'rook-ceph-mon-e runs ceph:old and 2 more; ',
  )
})

it('what is waited for is said also where nothing blocks a single OSD', () => {
  const { osds } = updateSnapshot({ ids: [0] })
  const waiting = (blocked: readonly { readonly osd: number; readonly why: string }[]) =>
    updateWords({
      gate: undefined,
      chosen: { start: [], blocked, roundsLeft: 1, lowerBound: 1, waits: 'recovery has a minute' },
      sorted: { pending: osds, away: [], again: [], back: [], leftOut: [] },
      running: [],
      record: freshRecord(1),
      nowMs: 0,
      isClean: undefined,
    }).explanation
  expect([waiting([]), waiting([{ osd: 0, why: 'it is the last copy' }])]).toEqual([
    '1 OSD to update, recovery has a minute',
    '1 OSD to update, osd.0: it is the last copy; recovery has a minute',
  ])
})
