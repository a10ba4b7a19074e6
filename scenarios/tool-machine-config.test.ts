import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { controllerNames } from '@cofferdam/product/operator/controller-names.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, expect, it } from 'vitest'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'
import { type MachineConfigs, openMachineConfigs } from './testing/machine-config-operator.ts'
import { requestsOf } from './testing/requests-of.ts'

let fixture: LockFixture
let configs: MachineConfigs

async function open(options: { readonly isManaged?: boolean } = {}): Promise<void> {
  fixture = await openLockFixture()
  configs = await openMachineConfigs({ ...fixture, kubelet: fixture.world.kubelet }, options)
  await fixture.addLeaving('web', { replicas: 3 })
}

afterEach(async () => {
  expect(fixture.oracle.violations).toEqual([])
  configs.stop()
  await fixture.close()
})

const phaseFor = (node: string) => requestsOf(fixture.views, 'machine-config').get(node)?.status?.phase ?? 'none'
const isAway = (node: string) => !fixture.world.kubelet.isOn(node)

it('a pool that is not to be paused by Cofferdam is never touched, and its nodes get their requests all the same', async () => {
  await open({ isManaged: false })
  fixture.operate()
  await fixture.seconds(5)
  await configs.update('two')
  await fixture.until('the first node reboots', () => isAway('node-1'))
  expect([phaseFor('node-1'), configs.pause()]).toEqual(['Drained', ''])
  expect(await fixture.told('worker')).toEqual([])
})

it('a pause of the administrator outlives every request', async () => {
  await open()
  fixture.operate()
  await configs.change({ spec: { paused: true } })
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.reach('reboot-1', 'Drained')
  fixture.world.kubelet.reboot('node-1', 30)
  await fixture.reach('reboot-1', 'Completed')
  await fixture.seconds(10)
  expect(configs.pause()).toBe('paused')
})

it('who ends the pause by hand has the last word until no request stands any more', async () => {
  await open()
  fixture.operate()
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.until('the pool is paused', () => configs.pause() === 'paused by cofferdam')
  await configs.change({ spec: { paused: false } })
  await fixture.seconds(60)
  expect(configs.pause()).toBe('lifted')
  fixture.world.kubelet.reboot('node-1', 30)
  await fixture.reach('reboot-1', 'Completed')
  await fixture.until('the note is gone', () => configs.pause() === '')
  await fixture.request('reboot-2', { nodeName: 'node-2' })
  await fixture.until('the pool is paused again', () => configs.pause() === 'paused by cofferdam')
})

it('a pool is resumed though the server says of each write for a while that the pool has changed, which it has not', async () => {
  await open()
  const road = { lagMs: 0, conflictRate: 0, random: seededRandom(1) }
  // Whatever else changes a node would have the pool judged again.
  fixture.operate({ road, without: controllerNames.filter((name) => name !== 'machine-config') })
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.until('the pool is paused', () => configs.pause() === 'paused by cofferdam')
  road.conflictRate = 1
  await fixture.api.delete(nodeDisruptions, { name: 'reboot-1' })
  await fixture.seconds(10)
  expect(configs.pause()).toBe('paused by cofferdam')
  road.conflictRate = 0
  await fixture.until('the pool is resumed', () => configs.pause() === '', 120)
})

it('what a policy applies without a drain makes no request and no pause', async () => {
  await open()
  fixture.operate()
  await fixture.seconds(5)
  await configs.update('keys')
  await fixture.until('all have it', () => configs.states().every((state) => state.endsWith('Done keys')))
  expect([requestsOf(fixture.views, 'machine-config').size, configs.pause()]).toEqual([0, ''])
  expect(await fixture.told('worker')).toEqual([])
})
