import { describe, expect, it } from 'vitest'
import { decideCephDrain } from './decide.ts'
import { now, nowMs, ours, type Scenario, settle, tell } from './testing/fixture.ts'

describe('noout ends', () => {
  const since = '2026-01-01T11:30:00Z'
  const drain: Scenario = {
    down: [1],
    cordoned: ['node-1'],
    budgets: ours('zone-2', 'zone-3'),
    state: { openDomains: ['zone-1'], ownNoout: ['zone-1'], nooutSince: { 'zone-1': since } },
    ceph: { nooutBuckets: ['zone-1'] },
  }

  it('when the maintenance time is over, once and for all for this drain', () => {
    const { decision, snapshot } = settle(tell(drain))
    expect(snapshot.ceph.known && snapshot.ceph.value.nooutBuckets).toEqual([])
    expect(decision.state).toMatchObject({ nooutSince: { 'zone-1': since }, ownNoout: [], wantsNoout: false })
  })

  it('not a second earlier, and the next look is in time', () => {
    const decision = decideCephDrain(tell({ ...drain, nowMs: nowMs - 1000 }))
    expect(decision.noout).toEqual({ set: [], unset: [] })
    expect(decision.recheckAfterSeconds).toBe(1)
  })

  it('after its full time where its beginning cannot be read: it would end at once, and data would move', () => {
    const state = { ...drain.state, nooutSince: { 'zone-1': 'noon' } }
    expect(decideCephDrain(tell({ ...drain, state })).noout).toEqual({ set: [], unset: [] })
  })

  it('stays while the node is uncordoned and its OSDs are not back', () => {
    const decision = decideCephDrain(tell({ ...drain, cordoned: [], nowMs: nowMs - 60_000 }))
    expect(decision.noout).toEqual({ set: [], unset: [] })
  })

  it('when the OSDs are back, before the data is clean', () => {
    const decision = decideCephDrain(tell({ ...drain, down: [], cordoned: [], data: 'unclean', nowMs: nowMs - 60_000 }))
    expect(decision.noout).toEqual({ set: [], unset: ['zone-1'] })
    expect(decision.state.ownNoout).toEqual(['zone-1'])
  })
})

describe('noout that somebody removes in the middle of a drain', () => {
  const drain: Scenario = {
    down: [1],
    cordoned: ['node-1'],
    budgets: ours('zone-2', 'zone-3'),
    state: { openDomains: ['zone-1'], ownNoout: ['zone-1'], nooutSince: { 'zone-1': now } },
    ceph: { nooutBuckets: ['zone-1'] },
  }
  const seen = decideCephDrain(tell(drain)).state
  const without = { ...drain, ceph: {} }

  it('is not set again: an administrator who wants data to move had it undone within seconds, every time', () => {
    expect(seen.seenNoout).toEqual(['zone-1'])
    const removed = decideCephDrain(tell({ ...without, state: seen }))
    expect(removed.noout).toEqual({ set: [], unset: [] })
    expect(removed.state).toMatchObject({ ownNoout: [], seenNoout: [], removedNoout: ['zone-1'] })
    expect(removed.problems).toMatchObject([{ object: 'bucket/zone-1' }])
    const later = decideCephDrain(tell({ ...without, state: removed.state }))
    expect([later.noout, later.state.removedNoout]).toEqual([{ set: [], unset: [] }, ['zone-1']])
  })

  it('and set again by somebody, is not ours and stays when the drain is over', () => {
    const theirs = decideCephDrain(tell({ ...drain, state: { ...seen, ownNoout: [], removedNoout: ['zone-1'] } }))
    expect(theirs.state).toMatchObject({ ownNoout: [], removedNoout: ['zone-1'] })
    expect(theirs.problems).toEqual([])
    const over = decideCephDrain(tell({ ...drain, down: [], cordoned: [], state: theirs.state }))
    expect([over.noout, over.state.removedNoout]).toEqual([{ set: [], unset: [] }, []])
  })

  it('is not mixed up with one that was never set: an operator that died before it set noout sets it now', () => {
    expect(decideCephDrain(tell(without)).noout).toEqual({ set: ['zone-1'], unset: [] })
  })
})
