import { expect, it } from 'vitest'
import { judgeReturns } from './judge-returns.ts'
import type { OsdUpdateSnapshot, UpdateRecord } from './snapshot.ts'
import { sortOsds } from './sort-osds.ts'
import { updateSnapshot } from './testing/update-fixture.ts'

const failure = (osd: number) => ({ osd, why: 'it was not back', atMs: 1 })

function judged(snapshot: OsdUpdateSnapshot, record: Partial<UpdateRecord>): Pick<UpdateRecord, 'failed' | 'frozen'> {
  const before = { ...snapshot.record, ...record }
  const { failed, frozen } = judgeReturns(snapshot, before, sortOsds(snapshot, before))
  return { failed, frozen }
}

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
