import { afterEach, beforeEach, expect, it } from 'vitest'
import { grant } from '../../../ledger/rules/ledger.ts'
import { storageKey } from '../../../ledger/rules/storage-arbiter.ts'
import { updateRequestId } from '../../../ledger/rules/update-request.ts'
import { LedgerHold } from '../../../ledger/store/ledger-hold.ts'
import { type HoldFixture, type LedgerWay, openHoldFixture } from '../../../ledger/store/testing/hold-fixture.ts'
import { updateHold } from '../domain/hold-for-update.ts'
import { UpdateHold } from './update-hold.ts'

const cluster = { namespace: 'rook-ceph', name: 'my-cluster', uid: 'uid-1' }
const requestId = updateRequestId(cluster)
const { signal } = new AbortController()
let fixture: HoldFixture
let way: LedgerWay

/** An operator that is gone by now held the storage for an update. */
beforeEach(async () => {
  fixture = await openHoldFixture()
  way = fixture.way()
  await way.refresh()
  const claim = { key: storageKey(cluster), uid: cluster.uid, scope: '' }
  const wanted = { wants: 'hold' as const, requestId, holder: 'osd-update', claim }
  const earlier = new LedgerHold(fixture.clock, way, updateHold)
  await fixture.settled(earlier.hold([{ id: cluster, wanted }], signal))
  await way.refresh()
})
afterEach(() => fixture.stop())

it('an operator that starts while data recovers renews what the one before held for the update: nobody did, and it was taken for dead', async () => {
  const hold = new UpdateHold(fixture.clock, way)
  expect(await fixture.settled(hold.settle(cluster, 'keep', signal))).toBeUndefined()
  expect((await fixture.ledger()).entries).toMatchObject([{ requestId, epoch: 2, state: 'Acting' }])
  expect([hold.holds(cluster), hold.recheckAfterSeconds(cluster)]).toEqual([true, 20])
})

it('after it has released the storage, those who waited come first until they have had time to take it', async () => {
  const request = { requestId: 'reboot-1', holder: 'reboot-1', now: '2026-01-01T00:00:00Z' }
  const claims = [{ key: storageKey(cluster), uid: cluster.uid, scope: 'a' }]
  const wait = way.store.change(
    'wait',
    (ledger) => ({ ledger: grant(ledger, { ...request, claims }).ledger, value: 0 }),
    signal,
  )
  await fixture.settled(wait)
  const hold = new UpdateHold(fixture.clock, way)
  await fixture.settled(hold.settle(cluster, 'release', signal))
  const withdraw = way.store.change('withdraw', (ledger) => ({ ledger: { ...ledger, tickets: [] }, value: 0 }), signal)
  await fixture.settled(withdraw)
  await way.refresh()
  const waiting = () => {
    const { arbiter } = hold.observe(cluster)
    return arbiter?.known && arbiter.value.tickets.map((ticket) => ticket.requestId)
  }
  expect(waiting()).toEqual(['reboot-1'])
  await fixture.clock.advance(15_000)
  expect(waiting()).toEqual([])
})
