import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { disruptionLedgers, ledgerName } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'
import { type LockScenario, lockScenarios } from './testing/lock-stories.ts'

let fixture: LockFixture
afterEach(() => fixture.close())

describe.each(Object.entries<LockScenario>(lockScenarios))('%s', (name, { title, seed, act }) => {
  it(title, async () => {
    fixture = await openLockFixture()
    fixture.trace.chapter('The cluster comes up')
    await seed(fixture)
    const before = fixture.budgets().map(withoutOwnersLock)
    fixture.operate()
    fixture.rebootForSeconds(60)
    await fixture.seconds(5)
    await act(fixture)

    expect(fixture.budgets()).toEqual(before)
    expect(fixture.ledger()).toMatchObject({ entries: [], tickets: [] })
    expect(['node-1', 'node-2', 'node-3'].filter(fixture.isCordoned)).toEqual([])
    expect(fixture.oracle.violations).toEqual([])
    await expect(fixture.trace.text()).toMatchFileSnapshot(`./drain-lock-${name}.golden.txt`)
  })
})

it('the oracle sees a machine that goes with nobody holding it, and an application that is left with too little', async () => {
  fixture = await openLockFixture()
  await fixture.addStaying('db')
  fixture.operate()
  await fixture.seconds(5)
  fixture.world.kubelet.powerOff('node-1')
  await fixture.seconds(1)
  fixture.world.kubelet.powerOff('node-2')
  await fixture.seconds(1)
  expect(fixture.oracle.violations).toEqual([
    'node-1 was off, and nobody held it',
    'shop/db had 1 pods that run, and needs 2',
    'node-2 was off, and nobody held it',
  ])
})

it('the oracle sees a record that lets a node go with nothing held, and a budget that does not know of it', async () => {
  fixture = await openLockFixture()
  await fixture.addStaying('db')
  const operator = fixture.operate()
  await fixture.seconds(5)
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.reach('reboot-1', 'Drained')
  operator.kill()
  const body = { status: { disruptedPods: null } }
  const db = { namespace: 'shop', name: 'db' }
  await fixture.api.patch(podDisruptionBudgets, db, { type: 'merge', body }, { subresource: 'status' })
  await fixture.api.delete(disruptionLedgers, { name: ledgerName })
  await fixture.seconds(1)
  expect(fixture.oracle.violations).toEqual([
    'reboot-1 said that node-1 may go, and did not hold it',
    'db did not count db-0 as gone, whose node may go',
  ])
})

function withoutOwnersLock(text: string): string {
  return text.replace(', cofferdam.io/lock', '')
}
