import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decideCephDrain } from './decide.ts'
import { decideWithoutRecord } from './decide-without-record.ts'
import { calmState } from './state-map.ts'
import { SmallCeph } from './testing/small-ceph.ts'
import { happen, osdAt, reconcile } from './testing/small-ceph-scenario.ts'

const happenings = ['cordon', 'uncordon', 'crash', 'start', 'notice', 'report', 'recover', 'moveAway'] as const
const records = ['taken', 'busy', 'refused', 'wiped', 'unread'] as const

const scenario = fc.record({
  zones: fc.integer({ min: 3, max: 5 }),
  osdsPerZone: fc.integer({ min: 1, max: 4 }),
  isAssuming: fc.boolean(),
  actingSets: fc.array(fc.array(fc.nat(20), { minLength: 5, maxLength: 5 }), { minLength: 1, maxLength: 8 }),
  events: fc.array(
    fc.record({
      what: fc.constantFrom(...happenings),
      which: fc.nat(50),
      record: fc.constantFrom(...records),
      lost: fc.option(fc.nat(5), { freq: 4 }),
      greed: fc.array(fc.nat(50), { maxLength: 6 }),
    }),
    { minLength: 5, maxLength: 40 },
  ),
})

it('whoever may refuse, wipe or hide the record and evict all that the budgets allow takes no placement group below its minimum', () => {
  let evictions = 0
  fc.assert(
    fc.property(scenario, ({ events, actingSets, ...placing }) => {
      const ceph = new SmallCeph(placing, actingSets)
      reconcile(ceph)
      for (const { what, which, record, lost, greed } of events) {
        happen(ceph, what, which)
        if (record === 'wiped') ceph.state = calmState
        // Somebody deletes a budget; nothing can refuse an eviction before that is seen.
        if (lost !== null) ceph.budgets = ceph.budgets.filter((_, at) => at !== lost)
        if (what === 'crash' || lost !== null) reconcile(ceph, undefined, decideWith(ceph, record))
        const evictAll = () => {
          for (const pick of greed) evict(ceph, pick)
        }
        reconcile(ceph, evictAll, decideWith(ceph, record))
      }
    }),
    { numRuns: 300 },
  )
  expect(evictions).toBeGreaterThan(100)

  function evict(ceph: SmallCeph, pick: number): void {
    const id = osdAt(ceph, pick)
    if (!ceph.mayEvict(id)) return
    expect(ceph.harmOf(id)).toEqual([])
    evictions += 1
    ceph.crash(id)
  }
})

type Taking = (typeof records)[number]

/** Decides as far as the record allows. */
function decideWith(ceph: SmallCeph, record: Taking): Parameters<typeof reconcile>[2] {
  return (seen) => {
    const snapshot = record === 'unread' ? { ...seen, state: calmState } : seen
    const wanted = decideCephDrain(snapshot)
    const isTaken = record === 'taken' || record === 'wiped'
    const isNeeded = record === 'unread' || JSON.stringify(wanted.state) !== JSON.stringify(snapshot.state)
    if (isTaken || !isNeeded) return { decision: wanted, state: wanted.state, isRecorded: !isNeeded }
    const decision = decideWithoutRecord(snapshot, wanted, { why: 'refused', isLasting: record !== 'busy' })
    return { decision, state: ceph.state, isRecorded: true }
  }
}
