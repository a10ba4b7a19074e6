import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'
import { type Maintenances, openMaintenances } from './testing/maintenance-operator.ts'
import { requestsOf, standingFor } from './testing/requests-of.ts'

/** Three racks with a node each, and an OSD on each node. */
const threeRacks = `
pace: { readyAfterSeconds: 3, terminationSeconds: 2 }
zones: [{ name: hall, racks: [left, middle, right] }]
nodes: [{ name: node-left, rack: left }, { name: node-middle, rack: middle }, { name: node-right, rack: right }]
ceph:
  osds: { perNode: 1 }
  pools: [{ name: replicapool, failureDomain: rack, pgs: 16 }, { name: .mgr, failureDomain: rack, pgs: 1 }]
  pace: { recoveryPgsPerSecond: 4, outAfterSeconds: 600 }
`

let fixture: CephFixture
let maintenances: Maintenances
afterEach(async () => {
  maintenances.stop()
  await fixture.close()
})

async function open(without: readonly string[] = []): Promise<void> {
  fixture = await openCephFixture(threeRacks)
  maintenances = await openMaintenances(fixture)
  requestsOf(fixture.views, 'node-maintenance')
  fixture.startOperator(without)
  await fixture.until('the default budget is there', isCalm, 30)
  await fixture.seconds(5)
}

const isCalm = () => fixture.osdBudgets().join() === 'rook-ceph-osd'
const phaseFor = (node: string) => requestsOf(fixture.views, 'node-maintenance').get(node)?.status?.phase ?? 'none'
const isInMaintenance = (node: string) => maintenances.statusOf(node).phase === 'Succeeded'

it('two nodes are taken into maintenance at once: each has a request, and the second rack goes when the first is clean again', async () => {
  await open()
  await maintenances.maintain('node-left')
  await maintenances.maintain('node-right')
  await fixture.until('one is in maintenance', () => isInMaintenance('node-left') || isInMaintenance('node-right'))
  const [first, second] = isInMaintenance('node-left') ? ['node-left', 'node-right'] : ['node-right', 'node-left']
  await fixture.seconds(60)
  expect([phaseFor(first), phaseFor(second)]).toEqual(['Drained', 'Waiting'])
  expect([fixture.osdsOn(first), fixture.osdsOn(second).length]).toEqual([[], 1])
  expect(requestsOf(fixture.views, 'node-maintenance').get(second)).toMatchObject({
    spec: { requester: 'node-maintenance', reason: 'new disks' },
    metadata: { annotations: { 'cofferdam.io/asked-by': `nodemaintenance/for-${second}` } },
  })
  fixture.machines.reboot(first, 60)
  await fixture.seconds(180)
  // It is back, and still in maintenance: its OSD has no place, so its rack is held.
  expect([phaseFor(first), isInMaintenance(second), fixture.osdsOn(second).length]).toEqual(['Recovering', false, 1])
  await maintenances.giveBack(first)
  await fixture.until('the other one is in maintenance', () => isInMaintenance(second))
  expect(fixture.osdsOn(first)).toHaveLength(1)
  await maintenances.giveBack(second)
  await fixture.until(
    'nothing is left of it',
    () => isCalm() && standingFor(fixture.views, 'node-maintenance').length === 0,
  )
  expect(fixture.oracle.violations).toEqual([])
})

/** Of two racks that wait for the left one, which comes next: the node in maintenance, or a request that came a minute later? */
async function nextAfterLeft(): Promise<string> {
  const request = (nodeName: string) =>
    fixture.api.create(nodeDisruptions, {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name: nodeName },
      spec: { nodeName, intent: 'Reboot', honourSkipDrain: true, force: true, deleteEmptyDirData: true },
    })
  const phaseOf = (name: string) => fixture.views.of(nodeDisruptions).get(name)?.status?.phase
  await request('node-left')
  await fixture.until('the left one is drained', () => phaseOf('node-left') === 'Drained')
  await maintenances.maintain('node-right')
  await fixture.seconds(60)
  await request('node-middle')
  await fixture.seconds(30)
  fixture.machines.reboot('node-left', 30)
  const isMiddle = () => phaseOf('node-middle') === 'Drained'
  await fixture.until('one of the others is empty', () => isMiddle() || isInMaintenance('node-right'))
  return isMiddle() ? 'node-middle' : 'node-right'
}

it('a maintenance that waits for storage has its place in the queue: a request that came later does not pass it', async () => {
  await open()
  expect(await nextAfterLeft()).toBe('node-right')
  expect(fixture.oracle.violations).toEqual([])
})

it('without the controller it has none, and the later request goes first', async () => {
  await open(['node-maintenance'])
  expect(await nextAfterLeft()).toBe('node-middle')
  expect(requestsOf(fixture.views, 'node-maintenance').size).toBe(0)
})
