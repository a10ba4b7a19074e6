import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, expect, it } from 'vitest'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'

let fixture: LockFixture
afterEach(() => fixture.close())

const roles = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: true, plural: 'roles', kind: 'Role' }
const open = (name: string) =>
  fixture.api.patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable: null } } })

/** The request for node-1 says that it may go. One pod of an application stays on it, and one on each of the others. */
async function openDrained(): Promise<void> {
  fixture = await openLockFixture()
  await fixture.addStaying('db')
  fixture.operate()
  await fixture.seconds(5)
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.reach('reboot-1', 'Drained')
}

it('a node that is opened while its machine goes down holds the next one back: else two of three pods would be away', async () => {
  await openDrained()
  fixture.world.kubelet.powerOff('node-1')
  await fixture.seconds(2)
  await open('node-1')
  await fixture.request('reboot-2', { nodeName: 'node-2' })
  await fixture.seconds(20)
  expect(fixture.blockersOf('reboot-1')).toEqual(['node/node-1 NodeUnheard'])
  await fixture.seconds(60)
  expect(fixture.blockersOf('reboot-1')).toContain('node/node-1 NodeAway')
  expect(fixture.heldKeys()).toContain('node/node-1 Acting')
  expect(fixture.phaseOf('reboot-2')).toBe('Waiting')
  fixture.world.kubelet.powerOn('node-1')
  await fixture.reach('reboot-1', 'Completed')
  await fixture.reach('reboot-2', 'Drained')
  expect(fixture.oracle.violations).toEqual([])
})

it('a node that is opened and runs is released with the next report of its kubelet', async () => {
  await openDrained()
  await open('node-1')
  await fixture.reach('reboot-1', 'Completed', 20)
  expect(fixture.heldKeys()).toEqual([])
  expect(fixture.oracle.violations).toEqual([])
})

it('an operator that may not read Leases releases a node that is opened as it sees it, and waits for nothing that it cannot know', async () => {
  await openDrained()
  await fixture.api.delete(roles, { namespace: 'kube-node-lease', name: 'cofferdam:node-disruption' })
  await open('node-1')
  await fixture.reach('reboot-1', 'Completed', 2)
  expect(fixture.statusOf('reboot-1')).not.toHaveProperty('heardBefore')
})
