import { describe, expect, it } from 'vitest'
import { decideOsdUpdate } from './decide.ts'
import { beforeStarts, type NeverBegun, withoutNeverBegun } from './never-begun.ts'
import { away, updateSnapshot } from './testing/update-fixture.ts'

/** 0 and 1 start, 2 to 5 wait. */
const decision = decideOsdUpdate(updateSnapshot())
const held = (osd: number): NeverBegun => ({ osd, why: 'budget x allows none', isHeld: true })

function outcome(unbegun: readonly NeverBegun[], running: readonly number[] = [], of = decision) {
  const { reason, explanation, start, progress, blocked, recheckAfterSeconds } = withoutNeverBegun(of, unbegun, running)
  return {
    reason,
    explanation,
    start,
    running: progress.running,
    waiting: progress.waiting,
    blocked,
    recheckAfterSeconds,
  }
}

describe('a decision as it was carried out', () => {
  it('is what was decided where every OSD was touched', () => {
    expect(withoutNeverBegun(decision, [], [])).toBe(decision)
  })

  it('does not call an OSD on its way whose pod was refused: it waits, with the reason', () => {
    expect(outcome([held(1)])).toMatchObject({
      reason: 'OsdsUpdating',
      start: [0],
      running: [0],
      waiting: 5,
      blocked: [{ osd: 1, why: 'budget x allows none' }],
    })
  })

  it('is blocked, and says by whom, where every pod was refused', () => {
    expect(outcome([held(0), held(1)])).toEqual({
      reason: 'OsdUpdateBlocked',
      explanation: '6 OSDs to update, none can stop now (osd.0: budget x allows none)',
      start: [],
      running: [],
      waiting: 6,
      blocked: [
        { osd: 0, why: 'budget x allows none' },
        { osd: 1, why: 'budget x allows none' },
      ],
      recheckAfterSeconds: 15,
    })
  })

  it('goes on as it was where objects merely changed meanwhile: they are decided anew at once', () => {
    const changed = [0, 1].map((osd) => ({ osd, why: 'the object has been modified', isHeld: false }))
    expect(outcome(changed)).toMatchObject({ reason: 'OsdsUpdating', running: [], blocked: [], recheckAfterSeconds: 5 })
  })

  it('keeps those on their way that were there before', () => {
    const later = decideOsdUpdate(updateSnapshot({ needing: [1, 3, 5], osds: { 0: away(5) } }))
    expect(later.progress.running).toEqual([0, 1])
    expect(outcome([held(1)], [0], later)).toMatchObject({ reason: 'OsdsUpdating', running: [0], waiting: 3 })
  })
})

it('before anything is touched only those are on their way that were, or a status read in between would be wrong', () => {
  const later = decideOsdUpdate(updateSnapshot({ needing: [1, 3, 5], osds: { 0: away(5) } }))
  expect(beforeStarts(later, [0])).toMatchObject({ running: [0], waiting: 3 })
  expect(beforeStarts(decision, [])).toMatchObject({ running: [], waiting: 6 })
})
