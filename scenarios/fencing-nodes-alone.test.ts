import { machineDisruptionBudgets, nodeHealthChecks } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { leases } from '@cofferdam/kubernetes/api/resources.ts'
import type { FencingAnswer } from '@cofferdam/product/capabilities/fencing/view/fencing-answer.ts'
import type { FencingSummary } from '@cofferdam/product/capabilities/fencing/view/summarize-fencing.ts'
import { afterEach, expect, it } from 'vitest'
import { askExplain, askStatus } from './testing/ask-commands.ts'
import { type FencingFixture, openFencingFixture } from './testing/fencing-fixture.ts'
import { writeOperatorLease } from './testing/operator-lease.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

async function openNodesAlone(remediator: 'medik8s' | 'medik8s-without-leases'): Promise<void> {
  fixture = await openFencingFixture({
    storage: 4,
    remediator,
    remedy: 'reboot',
    withoutMachines: true,
    notReadySeconds: 60,
    timings: { rebootSeconds: 30 },
  })
  await writeOperatorLease(fixture)
  fixture.operate()
  await fixture.until('one node may go', fixture.isOpen, 60)
}

const remediated = () => (fixture.remediator?.controls.remediated() ?? []).map(({ node }) => node)
const fencingOf = async (node: string) =>
  ((await askExplain(fixture, `node/${node}`)).answer as { fencing?: FencingAnswer }).fencing

it('without Machines a NodeHealthCheck reboots one sick storage node, and the next only when all data is clean: it shot both', async () => {
  await openNodesAlone('medik8s')
  fixture.sicken('storage-1', 'storage-2')
  await fixture.until('the first is rebooted', () => remediated().length > 0, 180)
  const held = (await fixture.api.list(leases, { namespace: 'medik8s-leases' })).items
  expect(held.map(({ metadata, spec }) => `${metadata.name} ${spec?.holderIdentity}`)).toContain(
    'node-storage-2 cofferdam',
  )
  expect(await fencingOf('storage-2')).toMatchObject({ mayFence: false })
  expect((await fencingOf('storage-2'))?.wayOut).toContain('"manageMachineDisruptionBudgets":false')
  expect(remediated()).toEqual(['storage-1'])
  await fixture.until('the second is rebooted', () => remediated().length === 2, 900)
  await fixture.until('one node may go again', fixture.isOpen, 600)
  expect(fixture.oracle.violations).toEqual([])
})

it('without Machines and Leases the NodeHealthCheck is paused while storage needs a node, and explain and status say it', async () => {
  await openNodesAlone('medik8s-without-leases')
  fixture.silenceCeph()
  await fixture.seconds(90)
  fixture.sicken('storage-1')
  await fixture.seconds(180)
  const [check] = (await fixture.api.list(nodeHealthChecks)).items
  expect(check?.spec?.pauseRequests).toHaveLength(1)
  expect(await fencingOf('storage-1')).toMatchObject({
    mayFence: false,
    reason: 'FenceUnknown',
    gates: ['medik8s-nhc/workers is paused for all nodes that it remediates'],
  })
  const { fencing } = (await askStatus(fixture)) as { fencing?: FencingSummary }
  expect(fencing?.held.map(({ node }) => node)).toEqual(['storage-1'])
  fixture.letCephAnswer()
  await fixture.until('it is rebooted', () => remediated().includes('storage-1'), 300)
  expect(fixture.oracle.violations).toEqual([])
})

it('without Machines the budget is beside its CephCluster, selects nothing, and keeps the record of what was decided', async () => {
  await openNodesAlone('medik8s')
  const { items } = await fixture.api.list(machineDisruptionBudgets)
  expect(items.map(({ metadata, status }) => [metadata.namespace, metadata.name, status?.expectedMachines])).toEqual([
    ['rook-ceph', 'rook-ceph-rook-ceph', 0],
  ])
  expect(await fencingOf('storage-1')).toMatchObject({ mayFence: true, reason: 'FenceAllowed' })
})
