import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decideCephDrain } from '../../capabilities/ceph-drain/domain/decide.ts'
import { planOsdBudgets } from '../../capabilities/ceph-drain/domain/osd-budgets.ts'
import { applyStep, now } from '../../capabilities/ceph-drain/domain/testing/fixture.ts'
import { SmallCeph } from '../../capabilities/ceph-drain/domain/testing/small-ceph.ts'
import { happen, osdAt } from '../../capabilities/ceph-drain/domain/testing/small-ceph-scenario.ts'
import { known } from '../../shared/observed.ts'
import { releaseHold } from './hold-rules.ts'
import { holdStorage, storageHold } from './hold-storage.ts'
import { emptyLedger, grant, type Ledger, orphan } from './ledger.ts'
import { arbiterOf } from './storage-arbiter.ts'

const cluster = { namespace: 'rook-ceph', name: 'c', uid: 'u' }
const key = 'storage/rook-ceph/c'
const happenings = [
  'cordon',
  'uncordon',
  'crash',
  'start',
  'notice',
  'report',
  'recover',
  'ask',
  'end',
  'wipe',
] as const

const scenario = fc.record({
  zones: fc.integer({ min: 3, max: 4 }),
  osdsPerZone: fc.integer({ min: 1, max: 3 }),
  isAssuming: fc.boolean(),
  actingSets: fc.array(fc.array(fc.nat(20), { minLength: 5, maxLength: 5 }), { minLength: 1, maxLength: 6 }),
  events: fc.array(
    fc.record({
      what: fc.constantFrom(...happenings),
      which: fc.nat(50),
      greed: fc.array(fc.nat(50), { maxLength: 4 }),
    }),
    { minLength: 5, maxLength: 30 },
  ),
})

it('whoever holds a zone in the ledger sees no OSD of another one go, once that was looked at; and no data is harmed', () => {
  let refusedElsewhere = 0
  let wentAlong = 0
  fc.assert(
    fc.property(scenario, ({ events, actingSets, ...placing }) => {
      const ceph = new SmallCeph(placing, actingSets)
      let ledger: Ledger = emptyLedger
      ledger = reconcile(ceph, ledger)
      for (const [at, { what, which, greed }] of events.entries()) {
        if (what === 'ask') ledger = askFor(ledger, `request-${at}`, ceph.zoneOf(osdAt(ceph, which)))
        else if (what === 'end') ledger = endOne(ledger, which)
        else if (what === 'wipe') ledger = { ...ledger, entries: [], tickets: [] }
        else happen(ceph, what, which)
        ledger = reconcile(ceph, ledger)
        for (const pick of greed) {
          evict(ceph, ledger, pick)
          ledger = reconcile(ceph, ledger)
        }
      }
    }),
    { numRuns: 200 },
  )
  expect(refusedElsewhere).toBeGreaterThan(50)
  expect(wentAlong).toBeGreaterThan(20)

  function evict(ceph: SmallCeph, ledger: Ledger, pick: number): void {
    const id = osdAt(ceph, pick)
    const holders = arbiterOf(ledger, cluster).others
    const isElsewhere = holders.some(({ scope }) => scope !== ceph.zoneOf(id))
    if (isElsewhere) {
      refusedElsewhere += 1
      expect(ceph.mayEvict(id)).toBe(false)
    }
    if (!ceph.mayEvict(id)) return
    expect(ceph.harmOf(id)).toEqual([])
    if (holders.length > 0) wentAlong += 1
    ceph.crash(id)
  }
})

function askFor(ledger: Ledger, requestId: string, scope: string): Ledger {
  return grant(ledger, { requestId, holder: requestId, claims: [{ key, uid: cluster.uid, scope }], now }).ledger
}

/** One of the others is over: it is gone, and had touched nothing. */
function endOne(ledger: Ledger, which: number): Ledger {
  const { others } = arbiterOf(ledger, cluster)
  const ended = others[which % Math.max(1, others.length)]
  return ended === undefined ? ledger : orphan(ledger, ended.requestId)
}

/** Looks, decides, takes and gives back keys and writes budgets, until nothing changes any more. */
function reconcile(ceph: SmallCeph, before: Ledger): Ledger {
  let ledger = before
  let epoch: number | undefined
  for (let round = 0; round < 30; round += 1) {
    const snapshot = { ...ceph.snapshot(), arbiter: known(arbiterOf(ledger, cluster)) }
    const decision = decideCephDrain(snapshot)
    const { claim } = decision
    if (claim?.wants === 'hold') {
      const held = holdStorage(ledger, { id: cluster, wanted: claim, epoch, now })
      expect(held.epoch).toBeDefined()
      ledger = held.ledger
      epoch = held.epoch
    }
    const steps = planOsdBudgets(snapshot.budgets, decision.budgets)
    const isSettled = steps.length === 0 && JSON.stringify(decision.state) === JSON.stringify(snapshot.state)
    ceph.state = decision.state
    for (const step of steps) ceph.budgets = applyStep(ceph.budgets, step)
    ceph.setNoout(decision.noout)
    if (claim?.wants === 'release') ledger = releaseHold(ledger, storageHold.own(ledger, cluster), epoch)
    if (isSettled) return ledger
  }
  throw new Error('the budgets never settle')
}
