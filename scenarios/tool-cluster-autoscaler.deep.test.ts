import { afterEach, expect, it } from 'vitest'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'
import { autoscale } from './testing/under-cluster-autoscaler.ts'

let fixture: LockFixture
afterEach(() => fixture.close())

it('a scale-down of its own waits for the budget that a reboot elsewhere holds, and goes on when that is over', async () => {
  fixture = await openLockFixture()
  await fixture.addStaying('db')
  fixture.operate()
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.reach('reboot-1', 'Drained')
  const autoscaler = autoscale(fixture, { group: ['node-3'] })
  fixture.world.kubelet.powerOff('node-1')
  await fixture.seconds(300)
  expect([autoscaler.removed(), autoscaler.failures()]).toEqual([[], []])
  expect(fixture.oracle.violations).toEqual([])
  fixture.world.kubelet.powerOn('node-1')
  await fixture.reach('reboot-1', 'Completed')
  await fixture.until('node-3 is scaled down', () => autoscaler.removed().includes('node-3'), 400)
  autoscaler.stop()
})
