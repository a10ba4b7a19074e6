import { expect, it } from 'vitest'
import { unknown } from '../../../shared/observed.ts'
import { judgeReturns, recordOfGeneration } from './judge-returns.ts'
import type { OsdUpdateSnapshot, UpdateRecord } from './snapshot.ts'
import { sortOsds } from './sort-osds.ts'
import { away, osdDown, twoTriples, updateSnapshot } from './testing/update-fixture.ts'
import { freshRecord } from './update-record.ts'

const failure = (osd: number) => ({ osd, why: 'it was not back', atMs: 1 })

function judged(snapshot: OsdUpdateSnapshot, record: Partial<UpdateRecord>): Pick<UpdateRecord, 'failed' | 'frozen'> {
  const before = { ...snapshot.record, ...record }
  const { failed, frozen } = judgeReturns(snapshot, before, sortOsds(snapshot, before))
  return { failed, frozen }
}

it('while Ceph does not answer nobody is back, though the pod is ready: the freeze stays', () => {
  const snapshot = updateSnapshot({ needing: [], ceph: unknown('no answer') })
  const before = { failed: [failure(0)], frozen: failure(0) }
  expect(judged(snapshot, before)).toEqual(before)
  expect(judged(updateSnapshot({ needing: [] }), before)).toEqual({ failed: [], frozen: undefined })
})

it('an OSD whose pod is ready and that Ceph does not have is late too, and says what lacks', () => {
  const map = { ...twoTriples, osds: [osdDown(0)] }
  const snapshot = updateSnapshot({ needing: [], map, osds: { 0: { ...away(601), isPodReady: true } } })
  expect(judged(snapshot, {}).frozen?.why).toBe(
    'it was not back 600 s after its update began: its pod is ready, but Ceph does not have it up with all its placement groups peered',
  )
})

it('another generation begins again, and what was done to OSDs and to Ceph is not forgotten with it', () => {
  const kept = {
    settledMs: 3,
    wereDown: [4],
    turns: { had: ['node-a'] },
    noout: [1],
    overrides: { count: 1, last: failure(2) },
    pace: { key: 'a', pending: [], open: [], rounds: 0 },
  }
  const record = { ...freshRecord(1), ...kept, lastEndedMs: 2, done: 7, failed: [failure(0)], frozen: failure(0) }
  expect(recordOfGeneration({ cluster: { generation: 2 }, record })).toEqual({
    ...freshRecord(2),
    ...kept,
    lastEndedMs: 2,
  })
  expect(recordOfGeneration({ cluster: { generation: 2 }, record: freshRecord(1) })).toEqual(freshRecord(2))
})

it('an OSD whose Deployment is gone has failed no longer, but one that froze the update keeps it frozen: that it is gone shows no change to be good', () => {
  const snapshot = updateSnapshot({ needing: [] })
  expect([
    judged(snapshot, { failed: [failure(99)] }),
    judged(snapshot, { failed: [failure(99), failure(98)], frozen: failure(99) }),
  ]).toEqual([
    { failed: [], frozen: undefined },
    { failed: [failure(99)], frozen: failure(99) },
  ])
})
