import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'
import { type Maintenances, openMaintenances } from './testing/maintenance-operator.ts'
import { requestsOf } from './testing/requests-of.ts'

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

const phaseFor = (node: string) => requestsOf(fixture.views, 'node-maintenance').get(node)?.status?.phase ?? 'none'
const isInMaintenance = (node: string) => maintenances.statusOf(node).phase === 'Succeeded'

it('a node in maintenance has a request from its cordon until it is given back, and stays cordoned by medik8s over a reboot', async () => {
  fixture.operate()
  await maintenances.maintain('node-1', 'new fans')
  await fixture.until('it is in maintenance', () => isInMaintenance('node-1') && phaseFor('node-1') === 'Drained')
  const request = requestsOf(fixture.views, 'node-maintenance').get('node-1')
  expect(request).toMatchObject({
    spec: { requester: 'node-maintenance', reason: 'new fans', honourSkipDrain: false },
    status: { cordonedBy: 'another user' },
  })
  // The pod that asks to stay has left too: medik8s evicts it, and would be refused for as long as the maintenance lasts.
  expect(fixture.podsOn('node-1')).toEqual([])
  fixture.world.kubelet.reboot('node-1', 60)
  await fixture.until('the next boot has a request of its own', () => {
    const next = requestsOf(fixture.views, 'node-maintenance').get('node-1')
    return next?.metadata.uid !== request?.metadata.uid && next?.status?.phase === 'Drained'
  })
  expect(fixture.isCordoned('node-1')).toBe(true)
  await maintenances.giveBack('node-1')
  await fixture.until('nothing is held', () => fixture.heldKeys().length === 0)
  expect([fixture.isCordoned('node-1'), phaseFor('node-1')]).toEqual([false, 'Completed'])
})

it('a maintenance of a node that is not there, and one that names none, disturb nothing', async () => {
  fixture.operate()
  await maintenances.maintain('node-9')
  await maintenances.maintain('', 'new disks', 'for-nothing')
  await maintenances.maintain('node-1')
  await fixture.until('the good one is in maintenance', () => phaseFor('node-1') === 'Drained')
  expect(requestsOf(fixture.views, 'node-maintenance').size).toBe(1)
  expect(await fixture.told('for-nothing')).toEqual(['ObjectsUnusable'])
})

it('the taint of another is no maintenance: a node without a NodeMaintenance gets no request', async () => {
  fixture.operate()
  const body = { spec: { unschedulable: true, taints: [{ key: 'medik8s.io/drain', effect: 'NoSchedule' }] } }
  await fixture.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body })
  await fixture.seconds(20)
  expect(requestsOf(fixture.views, 'node-maintenance').size).toBe(0)
})
