import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SmallCeph } from './testing/small-ceph.ts'
import { happen, osdAt, reconcile } from './testing/small-ceph-scenario.ts'

const happenings = ['cordon', 'uncordon', 'crash', 'start', 'notice', 'report', 'recover', 'moveAway', 'look'] as const

const scenario = fc.record({
  zones: fc.integer({ min: 3, max: 5 }),
  osdsPerZone: fc.integer({ min: 1, max: 4 }),
  isAssuming: fc.boolean(),
  actingSets: fc.array(fc.array(fc.nat(20), { minLength: 5, maxLength: 5 }), { minLength: 1, maxLength: 8 }),
  events: fc.array(
    fc.record({
      what: fc.constantFrom(...happenings),
      which: fc.nat(50),
      greed: fc.array(fc.nat(50), { maxLength: 6 }),
    }),
    { minLength: 5, maxLength: 40 },
  ),
})

it('an administrator who evicts all that the budgets allow, between any two writes, takes no placement group below its minimum', () => {
  let evictions = 0
  fc.assert(
    fc.property(scenario, ({ events, actingSets, ...placing }) => {
      const ceph = new SmallCeph(placing, actingSets)
      reconcile(ceph)
      for (const { what, which, greed } of events) {
        happen(ceph, what, which)
        // Nothing can refuse an eviction in the instant after a failure that nobody has seen yet.
        if (what === 'crash') reconcile(ceph)
        reconcile(ceph, () => {
          for (const pick of greed) evict(ceph, pick)
        })
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

it('every drain ends: with patience alone a cordoned node is emptied, whatever holds data', () => {
  fc.assert(
    fc.property(scenario, fc.nat(10), ({ actingSets, ...placing }, pick) => {
      const ceph = new SmallCeph(placing, actingSets)
      const node = ceph.nodeOf(osdAt(ceph, pick))
      ceph.cordoned.add(node)
      for (let round = 0; round < 12; round += 1) {
        reconcile(ceph)
        for (const id of ceph.osds.filter((each) => ceph.nodeOf(each) === node)) if (ceph.mayEvict(id)) ceph.crash(id)
        ceph.notice()
        ceph.report()
      }
      expect(ceph.osds.filter((id) => ceph.nodeOf(id) === node && ceph.pods.get(id) === true)).toEqual([])
    }),
    { numRuns: 100 },
  )
})
