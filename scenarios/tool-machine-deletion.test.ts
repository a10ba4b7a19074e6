import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { afterEach, expect, it } from 'vitest'
import { drainBeforeDelete, isHooked, machinesOf } from './testing/deleted-machines.ts'
import { type FencingFixture, openFencingFixture } from './testing/fencing-fixture.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

it('a dead node is not waited for: its health check deletes the Machine, the hook goes without a drain, and the replacement comes', async () => {
  fixture = await openFencingFixture({
    storage: 4,
    remediator: 'openshift',
    machineLabels: drainBeforeDelete,
    drain: {},
  })
  const { isThere, whenHooked } = machinesOf(fixture)
  fixture.operate()
  await whenHooked()
  fixture.kill('storage-1')
  await fixture.until(
    'it is deleted',
    () => fixture.machine('storage-1')?.metadata.deletionTimestamp !== undefined,
    480,
  )
  await fixture.until('it is gone', () => !isThere('storage-1') && !fixture.nodeNames().includes('storage-1'), 120)
  expect(await fixture.told('storage-1')).toContainEqual(
    'MachineNotDrained The pre-drain hook is removed without a drain: storage-1 has not been Ready for 5 minutes and cannot be drained.',
  )
  expect(fixture.oracle.violations).toEqual([])
})

it('a Machine that loses its mark is free again, though its request waits', async () => {
  fixture = await openFencingFixture({
    storage: 4,
    remediator: 'cluster-api',
    machineLabels: drainBeforeDelete,
    drain: {},
  })
  const { api, kinds } = fixture
  const { isThere, whenHooked, remove, requestOf } = machinesOf(fixture)
  fixture.operate()
  await whenHooked()
  await fixture.request('of-ann', 'storage-2', { force: true, deleteEmptyDirData: true })
  await fixture.until('another node is drained', () => fixture.phaseOf('of-ann') === 'Drained', 120)
  await remove('storage-1')
  await fixture.seconds(60)
  expect([isThere('storage-1'), requestOf('storage-1')?.status?.phase]).toEqual([true, 'Waiting'])
  const body = { metadata: { labels: { 'cofferdam.io/drain-before-delete': null } } }
  await api.patch(kinds.machines, { namespace: kinds.namespace, name: 'storage-1' }, { type: 'merge', body })
  await fixture.until('the request is withdrawn', () => requestOf('storage-1') === undefined, 30)
  expect(isHooked(fixture.machine('storage-1') as Machine)).toBe(false)
})
