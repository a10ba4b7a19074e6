import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decideCephDrain } from './decide.ts'
import { planOsdBudgets } from './osd-budgets.ts'
import { SmallCeph } from './testing/small-ceph.ts'
import { applyStep } from './testing/stage.ts'

const happenings = ['cordon', 'uncordon', 'crash', 'start', 'notice', 'report', 'recover', 'moveAway', 'look'] as const

const story = fc.record({
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
    fc.property(story, ({ events, actingSets, ...placing }) => {
      const ceph = new SmallCeph(placing, actingSets)
      reconcile(ceph, () => undefined)
      for (const { what, which, greed } of events) {
        happen(ceph, what, which)
        // Nothing can refuse an eviction in the instant after a failure that nobody has seen yet.
        if (what === 'crash') reconcile(ceph, () => undefined)
        reconcile(ceph, () => {
          for (const pick of greed) evict(ceph, pick)
        })
      }
    }),
    { numRuns: 300 },
  )
  expect(evictions).toBeGreaterThan(100)

  function evict(ceph: SmallCeph, pick: number): void {
    const id = ceph.osds[pick % ceph.osds.length] as number
    if (!ceph.mayEvict(id)) return
    expect(ceph.harmOf(id)).toEqual([])
    evictions += 1
    ceph.crash(id)
  }
})

it('every drain ends: with patience alone a cordoned node is emptied, whatever holds data', () => {
  fc.assert(
    fc.property(story, fc.nat(10), ({ actingSets, ...placing }, pick) => {
      const ceph = new SmallCeph(placing, actingSets)
      const node = ceph.nodeOf((ceph.osds[pick % ceph.osds.length] as number) ?? 0)
      ceph.cordoned.add(node)
      for (let round = 0; round < 12; round += 1) {
        reconcile(ceph, () => undefined)
        for (const id of ceph.osds.filter((each) => ceph.nodeOf(each) === node)) if (ceph.mayEvict(id)) ceph.crash(id)
        ceph.notice()
        ceph.report()
      }
      expect(ceph.osds.filter((id) => ceph.nodeOf(id) === node && ceph.pods.get(id) === true)).toEqual([])
    }),
    { numRuns: 100 },
  )
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
