import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { decideCephDrain } from './decide.ts'
import { decideWithoutRecord } from './decide-without-record.ts'
import { planOsdBudgets } from './osd-budgets.ts'
import { calmState } from './state-map.ts'
import { SmallCeph } from './testing/small-ceph.ts'
import { applyStep } from './testing/stage.ts'

vi.setConfig({ testTimeout: 120_000 })

const happenings = ['cordon', 'uncordon', 'crash', 'start', 'notice', 'report', 'recover', 'moveAway'] as const
const records = ['taken', 'busy', 'refused', 'wiped', 'unread'] as const

const story = fc.record({
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
    fc.property(story, ({ events, actingSets, ...placing }) => {
      const ceph = new SmallCeph(placing, actingSets)
      reconcile(ceph, 'taken', () => undefined)
      for (const { what, which, record, lost, greed } of events) {
        happen(ceph, what, which)
        if (record === 'wiped') ceph.state = calmState
        // Somebody deletes a budget; nothing can refuse an eviction before that is seen.
        if (lost !== null) ceph.budgets = ceph.budgets.filter((_, at) => at !== lost)
        if (what === 'crash' || lost !== null) reconcile(ceph, record, () => undefined)
        reconcile(ceph, record, () => {
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

/** Decides and writes as far as the record allows, with `between` before every write. */
function reconcile(ceph: SmallCeph, record: (typeof records)[number], between: () => void): void {
  for (let round = 0; round < 30; round += 1) {
    const seen = ceph.snapshot()
    const snapshot = record === 'unread' ? { ...seen, state: calmState } : seen
    const wanted = decideCephDrain(snapshot)
    const isTaken = record === 'taken' || record === 'wiped'
    const isNeeded = record === 'unread' || JSON.stringify(wanted.state) !== JSON.stringify(snapshot.state)
    const isRefused = !isTaken && isNeeded
    const decision = isRefused
      ? decideWithoutRecord(snapshot, wanted, { why: 'refused', isLasting: record !== 'busy' })
      : wanted
    const steps = planOsdBudgets(snapshot.budgets, decision.budgets)
    const isSettled = steps.length === 0 && (isRefused || !isNeeded)
    if (!isRefused) ceph.state = decision.state
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
