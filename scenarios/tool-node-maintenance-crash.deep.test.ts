import { afterEach, beforeEach, expect, it } from 'vitest'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'
import { type Maintenances, openMaintenances } from './testing/maintenance-operator.ts'
import { requestsOf, standingFor } from './testing/requests-of.ts'

let fixture: LockFixture
let maintenances: Maintenances

beforeEach(async () => {
  fixture = await openLockFixture()
  maintenances = await openMaintenances(fixture)
  await fixture.addStaying('db')
  await fixture.addLeaving('web', { replicas: 3 })
})

afterEach(async () => {
  expect(fixture.oracle.violations).toEqual([])
  maintenances.stop()
  await fixture.close()
})

const isInMaintenance = (node: string) => maintenances.statusOf(node).phase === 'Succeeded'

it('three nodes at once, and an operator that is killed in the middle: all get their request, and none is left over', async () => {
  const operator = fixture.operate({ isReplaced: true })
  await fixture.seconds(5)
  for (const node of ['node-1', 'node-2', 'node-3']) await maintenances.maintain(node)
  operator.killAfter(12)
  await fixture.until('the operator is dead', operator.isDead)
  await fixture.until('one is in maintenance', () => isInMaintenance('node-1'))
  await fixture.until('all have a request', () => requestsOf(fixture.views, 'node-maintenance').size === 3)
  for (const node of ['node-1', 'node-2', 'node-3']) {
    await maintenances.giveBack(node)
    await fixture.seconds(40)
  }
  await fixture.until('nothing is held or left', () => {
    return fixture.heldKeys().length === 0 && standingFor(fixture.views, 'node-maintenance').length === 0
  })
})
