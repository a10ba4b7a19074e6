import fc from 'fast-check'
import { expect, it } from 'vitest'
import { beginHold } from '../../../ledger/rules/hold-rules.ts'
import { arbiterOf, conflictingHolder, storageKey } from '../../../ledger/rules/storage-arbiter.ts'
import { known, unknown } from '../../../shared/observed.ts'
import type { PassDecision } from './decide-pass.ts'
import type { CephDrainStep } from './steps.ts'
import { now } from './testing/fixture.ts'
import { SmallCeph } from './testing/small-ceph.ts'
import { happen, osdAt } from './testing/small-ceph-scenario.ts'
import { SmallPass } from './testing/small-pass.ts'
import { coverOf } from './wanted-budgets.ts'

const happenings = ['cordon', 'uncordon', 'crash', 'start', 'notice', 'report', 'recover', 'moveAway', 'look'] as const

const scenario = fc.record({
  zones: fc.integer({ min: 3, max: 5 }),
  osdsPerZone: fc.integer({ min: 1, max: 3 }),
  isAssuming: fc.boolean(),
  actingSets: fc.array(fc.array(fc.nat(20), { minLength: 5, maxLength: 5 }), { minLength: 1, maxLength: 8 }),
  events: fc.array(
    fc.record({
      what: fc.constantFrom(...happenings),
      which: fc.nat(50),
      record: fc.constantFrom('taken', 'taken', 'taken', 'busy', 'refused', 'unread'),
      opinion: fc.constantFrom(known(true), known(true), known(false), unknown('no answer within 15 s')),
      diesAfter: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 0, max: 14 })),
      other: fc.constantFrom('takes', 'gives back', 'rests', 'rests'),
      lost: fc.option(fc.nat(5), { freq: 5 }),
      greed: fc.array(fc.nat(50), { maxLength: 4 }),
    }),
    { minLength: 5, maxLength: 30 },
  ),
})

const whole = { record: 'taken', opinion: known(true), diesAfter: Number.POSITIVE_INFINITY } as const

it('whoever kills the operator after any step, and evicts all that the budgets allow between any two, takes no placement group below its minimum', () => {
  let evictions = 0
  let deaths = 0
  fc.assert(
    fc.property(scenario, ({ events, actingSets, ...placing }) => {
      const pass = new SmallPass(new SmallCeph(placing, actingSets))
      settle(pass, () => {})
      for (const { what, which, other, lost, greed, ...around } of events) {
        happen(pass.ceph, what, which)
        if (other !== 'rests') changeLedger(pass, other, which)
        if (lost !== null) pass.loseBudget(lost)
        // Nothing can refuse an eviction in the instant after a failure that nobody has seen yet.
        if (what === 'crash' || lost !== null) settle(pass, () => {})
        const isWhole = pass.run(around, (decision, step) => {
          expectSafe(pass, decision, step)
          for (const pick of greed) evict(pass.ceph, pick)
        })
        if (!isWhole) deaths += 1
        settle(pass, (decision, step) => expectSafe(pass, decision, step))
      }
    }),
    { numRuns: 150 },
  )
  expect(evictions).toBeGreaterThan(100)
  expect(deaths).toBeGreaterThan(100)

  function evict(ceph: SmallCeph, pick: number): void {
    const id = osdAt(ceph, pick)
    if (!ceph.mayEvict(id)) return
    expect(ceph.harmOf(id)).toEqual([])
    evictions += 1
    ceph.crash(id)
  }
})

/** Passes until nothing changes. */
function settle(pass: SmallPass, between: Parameters<SmallPass['run']>[1]): void {
  const written = () => JSON.stringify([pass.ceph.budgets, pass.ceph.state, pass.ledger, [...pass.flags]])
  for (let at = 0; at < 20; at += 1) {
    const before = written()
    pass.run(whole, between)
    if (written() === before) return
  }
  throw new Error('the passes never settle')
}

function expectSafe(pass: SmallPass, decision: PassDecision, step: CephDrainStep): void {
  // A flag of ours that is not on record would stay for ever.
  expect([...pass.flags].filter((bucket) => !pass.ceph.state.ownNoout.includes(bucket))).toEqual([])
  if (step.name !== 'budgets') return
  const { cluster, osds, budgets } = pass.ceph.snapshot()
  const isHeld = coverOf(budgets)
  const staysHeld = coverOf(decision.decision.budgets)
  const { claim, state } = decision.decision
  if (claim?.wants === 'hold')
    expect(arbiterOf(pass.ledger, cluster).own.map(({ requestId }) => requestId)).toEqual([claim.requestId])
  const released = osds.filter((osd) => isHeld(osd) && !staysHeld(osd)).map(({ id }) => pass.ceph.zoneOf(id))
  const opened = [...new Set(released)].filter((zone) => state.openDomains.includes(zone))
  const conflicts = opened.filter((zone) => conflictingHolder(arbiterOf(pass.ledger, cluster), zone) !== undefined)
  expect(conflicts).toEqual([])
}

/** A drain through the ledger, which takes a zone when it can, or is over. */
function changeLedger(pass: SmallPass, what: 'takes' | 'gives back', which: number): void {
  const { cluster } = pass.ceph.snapshot()
  if (what === 'gives back') {
    const entries = pass.ledger.entries.filter(({ requestId }) => requestId !== 'reboot-a')
    pass.ledger = { ...pass.ledger, entries }
    return
  }
  const claim = { key: storageKey(cluster), uid: cluster.uid, scope: pass.ceph.zoneOf(osdAt(pass.ceph, which)) }
  const request = { requestId: 'reboot-a', holder: 'nodedisruption/reboot-a', claims: [claim], now }
  pass.ledger = beginHold(pass.ledger, request, { asksNobody: true }).ledger
}
