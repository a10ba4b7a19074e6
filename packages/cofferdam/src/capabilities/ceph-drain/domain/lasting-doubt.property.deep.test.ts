import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SmallCeph } from './testing/small-ceph.ts'
import { happen, osdAt, reconcile } from './testing/small-ceph-scenario.ts'

const happenings = [
  'cordon',
  'uncordon',
  'crash',
  'start',
  'notice',
  'report',
  'recover',
  'moveAway',
  'damage',
  'repair',
] as const

const placing = {
  zones: fc.integer({ min: 3, max: 6 }),
  osdsPerZone: fc.integer({ min: 1, max: 4 }),
  isAssuming: fc.boolean(),
  actingSets: fc.array(fc.array(fc.nat(20), { minLength: 6, maxLength: 6 }), { minLength: 1, maxLength: 8 }),
}

const scenario = fc.record({
  ...placing,
  events: fc.array(
    fc.record({
      what: fc.constantFrom(...happenings),
      which: fc.nat(50),
      greed: fc.array(fc.nat(50), { maxLength: 6 }),
    }),
    { minLength: 5, maxLength: 40 },
  ),
})

it('whoever evicts all that the budgets allow, between any two writes, takes no copy from a placement group in doubt', () => {
  let evictions = 0
  let besideDoubt = 0
  fc.assert(
    fc.property(scenario, ({ events, actingSets, ...given }) => {
      const ceph = new SmallCeph(given, actingSets)
      reconcile(ceph)
      for (const { what, which, greed } of events) {
        happen(ceph, what, which)
        // Nothing can refuse an eviction in the instant after a failure, or a finding, that nobody has seen yet. A copy of what is
        // damaged that was moved is such a finding, and a move takes longer than a report.
        if (what === 'moveAway') ceph.report()
        if (what === 'crash' || what === 'damage' || what === 'moveAway') reconcile(ceph)
        reconcile(ceph, () => {
          for (const pick of greed) evict(ceph, pick)
        })
      }
    }),
    { numRuns: 400 },
  )
  expect(evictions).toBeGreaterThan(100)
  expect(besideDoubt).toBeGreaterThan(20)

  function evict(ceph: SmallCeph, pick: number): void {
    const id = osdAt(ceph, pick)
    if (!ceph.mayEvict(id)) return
    expect(ceph.harmOf(id)).toEqual([])
    evictions += 1
    if (ceph.pgs.some(({ isDamaged }) => isDamaged)) besideDoubt += 1
    ceph.crash(id)
  }
})

it('with one placement group in doubt for good, every zone that it is not on can be drained, one after the other', () => {
  let drained = 0
  fc.assert(
    fc.property(fc.record(placing), ({ actingSets, ...given }) => {
      const ceph = new SmallCeph(given, actingSets)
      ceph.damage(0)
      const zones = [...new Set(ceph.osds.map((id) => ceph.zoneOf(id)))]
      for (const zone of zones.filter((each) => !ceph.isTouched(each))) {
        const members = ceph.osds.filter((id) => ceph.zoneOf(id) === zone)
        for (const id of members) ceph.cordoned.add(ceph.nodeOf(id))
        for (let round = 0; round < 12; round += 1) {
          reconcile(ceph)
          for (const id of members) if (ceph.mayEvict(id)) ceph.crash(id)
          ceph.notice()
          ceph.report()
        }
        expect(members.filter((id) => ceph.pods.get(id) === true)).toEqual([])
        drained += 1
        for (const id of members) ceph.start(id)
        ceph.cordoned.clear()
        ceph.notice()
        ceph.recover()
        ceph.report()
        reconcile(ceph)
        expect(ceph.state.openDomains).toEqual([])
      }
    }),
    { numRuns: 100 },
  )
  expect(drained).toBeGreaterThan(50)
})
