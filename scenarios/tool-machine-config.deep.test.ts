import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'
import { type MachineConfigs, openMachineConfigs } from './testing/machine-config-operator.ts'
import { requestsOf } from './testing/requests-of.ts'

let fixture: LockFixture
let configs: MachineConfigs

beforeEach(async () => {
  fixture = await openLockFixture()
  configs = await openMachineConfigs({ ...fixture, kubelet: fixture.world.kubelet })
  await fixture.addLeaving('web', { replicas: 3 })
})

afterEach(async () => {
  expect(fixture.oracle.violations).toEqual([])
  configs.stop()
  await fixture.close()
})

const phaseFor = (node: string) => requestsOf(fixture.views, 'machine-config').get(node)?.status?.phase ?? 'none'
const isUpdated = () => configs.states().every((state) => state.endsWith('Done two'))
const isAway = (node: string) => !fixture.world.kubelet.isOn(node)

it('every node that is updated has its request while it is drained and away, under the pause of its pool, and none afterwards', async () => {
  fixture.operate()
  await fixture.seconds(5)
  await configs.update('two')
  await fixture.until('the first node reboots', () => isAway('node-1'))
  expect([phaseFor('node-1'), configs.pause()]).toEqual(['Drained', 'paused by cofferdam'])
  expect(requestsOf(fixture.views, 'machine-config').get('node-1')).toMatchObject({
    spec: { requester: 'machine-config', reason: 'update to two' },
    metadata: { annotations: { 'cofferdam.io/asked-by': 'machineconfigpool/worker' } },
    status: { cordonedBy: 'another user' },
  })
  await fixture.until('all nodes are updated', isUpdated, 1_200)
  await fixture.until('all is as before', () => configs.pause() === '' && fixture.heldKeys().length === 0)
  expect(['node-1', 'node-2', 'node-3'].map(phaseFor)).toEqual(['Completed', 'Completed', 'Completed'])
  expect([...fixture.views.of(nodeDisruptions).values()]).toHaveLength(3)
  expect(['node-1', 'node-2', 'node-3'].filter(fixture.isCordoned)).toEqual([])
  expect(new Set(await fixture.told('worker'))).toEqual(new Set(['PoolPaused', 'PoolResumed']))
})

it('an operator that is killed in the middle leaves no pause behind: the next one ends it', async () => {
  const operator = fixture.operate({ isReplaced: true })
  await fixture.seconds(5)
  await configs.update('two')
  await fixture.until('the pool is paused', () => configs.pause() === 'paused by cofferdam')
  operator.kill()
  await fixture.until('the first node reboots', () => isAway('node-1'))
  await fixture.until('all nodes are updated', isUpdated, 1_200)
  await fixture.until('all is as before', () => configs.pause() === '' && fixture.heldKeys().length === 0)
})
