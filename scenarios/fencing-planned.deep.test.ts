import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, expect, it } from 'vitest'
import type { FencingFixture } from './testing/fencing-fixture.ts'
import { compareMachines } from './testing/machine-agreement.ts'
import { gatesOf, gatesWhileAway, isRemediated, openDrained, remediatorStyles } from './testing/planned-reboot.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

it.each(remediatorStyles)(
  'under %s a node that does not come back from its reboot is fenced when its time is over, and the request says why',
  async (style) => {
    fixture = await openDrained(style, '10m')
    fixture.world.kubelet.powerOff('compute-1')
    await fixture.seconds(540)
    expect(isRemediated(fixture)).toBe(false)
    await fixture.until('it is fenced', () => isRemediated(fixture), 360)
    expect((await compareMachines(fixture)).disagreements).toEqual([])
    for (const object of ['reboot-1', 'compute-1']) {
      const [told] = (await fixture.told(object)).filter((line) => line.startsWith('PlannedOutageOver'))
      expect(told).toContain('and it is not back: it is not protected from remediation since')
    }
    expect(fixture.oracle.violations).toEqual([])
  },
)

it.each(remediatorStyles)(
  'under %s an operator that dies while the node is away leaves its gates, and the next one lifts them',
  async (style) => {
    const drained = await openDrained(style, '10m')
    fixture = drained
    fixture.world.kubelet.powerOff('compute-1')
    await fixture.seconds(120)
    drained.operator.kill()
    await fixture.seconds(60)
    expect(await gatesOf(fixture)).toEqual(gatesWhileAway[style])
    fixture.operate()
    await fixture.seconds(240)
    expect(isRemediated(fixture)).toBe(false)
    await fixture.until('it is fenced when its time is over', () => isRemediated(fixture), 480)
  },
)

it('a machine that boots in a loop is fenced when its time is over: every boot would give it another hour', async () => {
  fixture = await openDrained('openshift', '20m')
  for (let boot = 0; boot < 6; boot += 1) {
    fixture.world.kubelet.powerOff('compute-1')
    await fixture.seconds(100)
    fixture.world.kubelet.setReady('compute-1', false, 'the network is not ready')
    fixture.world.kubelet.powerOn('compute-1')
    await fixture.seconds(100)
  }
  await fixture.until('it is fenced', () => isRemediated(fixture), 120)
})

it('deleting the request gives the node up at once: that is the override', async () => {
  fixture = await openDrained('openshift')
  fixture.world.kubelet.powerOff('compute-1')
  await fixture.seconds(300)
  expect(isRemediated(fixture)).toBe(false)
  await fixture.api.delete(nodeDisruptions, { name: 'reboot-1' })
  await fixture.until('it is fenced', () => isRemediated(fixture), 180)
})

it('a machine that dies while another node is drained for a reboot is remediated: a long drain holds up no other node', async () => {
  fixture = await openDrained('openshift')
  fixture.kill('compute-2')
  await fixture.until('the other is replaced', () => !fixture.machineNames().includes('compute-2'), 180)
  expect(isRemediated(fixture)).toBe(false)
})
