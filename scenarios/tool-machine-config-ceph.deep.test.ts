import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'
import { type MachineConfigs, openMachineConfigs } from './testing/machine-config-operator.ts'
import { requestsOf } from './testing/requests-of.ts'

/** Three racks with a node each, and storage that takes minutes to recover. */
const threeRacks = `
pace: { readyAfterSeconds: 3, terminationSeconds: 2 }
zones: [{ name: hall, racks: [left, middle, right] }]
nodes: [{ name: node-left, rack: left }, { name: node-middle, rack: middle }, { name: node-right, rack: right }]
ceph:
  osds: { perNode: 1 }
  pools: [{ name: replicapool, failureDomain: rack, pgs: 32 }, { name: .mgr, failureDomain: rack, pgs: 1 }]
  pace: { recoveryPgsPerSecond: 0.2, outAfterSeconds: 600 }
`

let fixture: CephFixture
let configs: MachineConfigs
afterEach(async () => {
  configs.stop()
  await fixture.close()
})

async function open(without: readonly string[] = []): Promise<void> {
  fixture = await openCephFixture(threeRacks)
  configs = await openMachineConfigs({ ...fixture, kubelet: fixture.machines })
  requestsOf(fixture.views, 'machine-config')
  fixture.startOperator(without)
  await fixture.until('the default budget is there', isCalm, 30)
  await fixture.seconds(5)
}

const isCalm = () => fixture.osdBudgets().join() === 'rook-ceph-osd'
const closedNodes = () =>
  [...fixture.views.of(nodes).values()].filter(({ spec }) => spec?.unschedulable === true).length
const isUpdated = () => configs.states().every((state) => state.endsWith('Done two'))

/** Which nodes are closed from now on, and whether all data was in place then: `node-left on clean storage`. */
function watchClosings(): string[] {
  const seen: string[] = []
  fixture.views.of(nodes).subscribe(({ key, before, after }) => {
    if (before?.spec?.unschedulable === true || after?.spec?.unschedulable !== true) return
    seen.push(`${key} on ${isCalm() ? 'clean' : 'recovering'} storage`)
  })
  return seen
}

it('one node after the other is updated, the next when storage is clean, though the operator is killed in the middle', async () => {
  await open()
  const closings = watchClosings()
  await configs.update('two')
  fixture.killOperatorAfter(25)
  await fixture.seconds(60)
  await fixture.stopOperator()
  fixture.startOperator()
  await fixture.until('all nodes are updated', isUpdated, 3_600)
  expect(closings).toEqual(['left', 'middle', 'right'].map((rack) => `node-${rack} on clean storage`))
  await fixture.until('all is as before', () => isCalm() && configs.pause() === '', 600)
  const phases = [...requestsOf(fixture.views, 'machine-config').values()].map(({ status }) => status?.phase)
  expect(phases).toEqual(['Completed', 'Completed', 'Completed'])
  expect(fixture.oracle.violations).toEqual([])
})

it('without the controller the next node is closed while storage still recovers from the one before', async () => {
  await open(['machine-config'])
  const closings = watchClosings()
  await configs.update('two')
  await fixture.until('all nodes are updated', isUpdated, 3_600)
  expect(closings).toContain('node-middle on recovering storage')
})

/** node-left is out of service for two hours on request of a person; an update of the pool comes meanwhile. */
async function updateDuringRepair(): Promise<void> {
  await fixture.api.create(nodeDisruptions, {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: 'repair' },
    spec: { nodeName: 'node-left', intent: 'Reboot', honourSkipDrain: true, force: true, deleteEmptyDirData: true },
  })
  const phaseOf = () => fixture.views.of(nodeDisruptions).get('repair')?.status?.phase
  await fixture.until('it is drained', () => phaseOf() === 'Drained')
  // It counts as unavailable for the pool, too; with two at a time that alone would not keep the next one.
  await configs.change({ spec: { maxUnavailable: 2 } })
  fixture.machines.powerOff('node-left')
  await configs.update('two')
  await fixture.seconds(4_500)
}

it('a pool with a node in repair begins with no other node, however many may be unavailable', async () => {
  await open()
  await updateDuringRepair()
  expect(configs.states()).toEqual(['node-left Done one', 'node-middle Done one', 'node-right Done one'])
  expect([closedNodes(), configs.pause()]).toEqual([1, 'paused by cofferdam'])
  expect(fixture.oracle.violations).toEqual([])
})

it('without the controller a second node is closed, cannot be emptied, and is degraded after an hour', async () => {
  await open(['machine-config'])
  await updateDuringRepair()
  expect(configs.states().filter((state) => state.includes('Degraded'))).toHaveLength(1)
  expect(closedNodes()).toBe(2)
})
