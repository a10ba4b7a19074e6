import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { decideCephDrain } from './decide.ts'
import { planOsdBudgets } from './osd-budgets.ts'
import { SmallCeph } from './testing/small-ceph.ts'
import { applyStep } from './testing/stage.ts'

vi.setConfig({ testTimeout: 120_000 })

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

const story = fc.record({
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
    fc.property(story, ({ events, actingSets, ...given }) => {
      const ceph = new SmallCeph(given, actingSets)
      reconcile(ceph, () => undefined)
      for (const { what, which, greed } of events) {
        happen(ceph, what, which)
        // Nothing can refuse an eviction in the instant after a failure, or a finding, that nobody has seen yet. A copy of what is
        // damaged that was moved is such a finding, and a move takes longer than a report.
        if (what === 'moveAway') ceph.report()
        if (what === 'crash' || what === 'damage' || what === 'moveAway') reconcile(ceph, () => undefined)
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
    const id = ceph.osds[pick % ceph.osds.length] as number
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
          reconcile(ceph, () => undefined)
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
        reconcile(ceph, () => undefined)
        expect(ceph.state.openDomains).toEqual([])
      }
    }),
    { numRuns: 100 },
  )
  expect(drained).toBeGreaterThan(50)
})

function happen(ceph: SmallCeph, what: (typeof happenings)[number], which: number): void {
  const id = ceph.osds[which % ceph.osds.length] as number
  if (what === 'cordon') ceph.cordoned.add(ceph.nodeOf(id))
  if (what === 'uncordon') ceph.cordoned.delete(ceph.nodeOf(id))
  if (what === 'crash') ceph.crash(id)
  if (what === 'start') ceph.start(id)
  if (what === 'notice') ceph.notice()
  if (what === 'report') ceph.report()
  if (what === 'recover') ceph.recover()
  if (what === 'moveAway') ceph.moveDataAway()
  if (what === 'damage') ceph.damage(which)
  if (what === 'repair') ceph.repair()
}

/** Looks, decides and writes until nothing changes, with `between` before every write. */
function reconcile(ceph: SmallCeph, between: () => void): void {
  for (let round = 0; round < 30; round += 1) {
    const snapshot = ceph.snapshot()
    const decision = decideCephDrain(snapshot)
    const steps = planOsdBudgets(snapshot.budgets, decision.budgets)
    const isSettled = steps.length === 0 && JSON.stringify(decision.state) === JSON.stringify(snapshot.state)
    ceph.state = decision.state
    for (const step of steps) {
      between()
      ceph.budgets = applyStep(ceph.budgets, step)
    }
    ceph.setNoout(decision.noout)
    const before = JSON.stringify([...ceph.pods])
    between()
    if (isSettled && before === JSON.stringify([...ceph.pods])) return
  }
  throw new Error('the budgets never settle')
}
