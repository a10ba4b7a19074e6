import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, expect, it } from 'vitest'
import { drainBeforeDelete, isHooked, machinesOf } from './testing/deleted-machines.ts'
import { type FencingFixture, openFencingFixture } from './testing/fencing-fixture.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

const osdsOn = (node: string) =>
  [...fixture.views.of(pods).values()].filter(
    ({ metadata, spec }) => metadata.labels?.['app'] === 'rook-ceph-osd' && spec.nodeName === node,
  ).length

/** The disks go with the machines, and the machine controller waits no longer than five minutes for a drain. */
const rollout = { storage: 5, drain: { timeoutSeconds: 300 }, volumes: 'lost', maintenanceMinutes: 10 } as const

it.each(['cluster-api', 'openshift'] as const)(
  'a rollout of %s deletes two storage machines in the same second: each is drained, the second when all data is clean again',
  async (remediator) => {
    fixture = await openFencingFixture({ ...rollout, remediator, machineLabels: drainBeforeDelete })
    const { isThere, machines, whenHooked, remove, requests, requestOf } = machinesOf(fixture)
    const operator = fixture.operate({ isReplaced: true })
    await whenHooked()

    await remove('storage-1', 'storage-2')
    await fixture.until('both are asked for', () => requests().length === 2, 30)
    expect(requestOf('storage-1')).toMatchObject({
      metadata: { annotations: { 'cofferdam.io/asked-by': `machine/${fixture.kinds.namespace}/storage-1` } },
      spec: { intent: 'Remove', requester: 'machine-deletion', force: true, deleteEmptyDirData: true },
    })

    // It dies in the middle of the first drain, and the next one goes on.
    operator.killAfter(5)
    const first = () => ['storage-1', 'storage-2'].find((name) => !isThere(name))
    await fixture.until('one is gone', () => first() !== undefined, 900)
    const second = first() === 'storage-1' ? 'storage-2' : 'storage-1'
    expect(operator.isDead()).toBe(true)
    expect([osdsOn(second), isHooked(fixture.machine(second) as Machine)]).toEqual([1, true])

    await fixture.until('the other is gone too', () => !isThere(second), 3600)
    await fixture.until(
      'nothing is held any more',
      () => requests().every(({ status }) => status?.phase === 'Completed'),
      3600,
    )
    expect(fixture.oracle.taken).toEqual([])
    expect(fixture.oracle.violations).toEqual([])
    expect(await fixture.told('storage-1')).toContainEqual(expect.stringContaining('MachineDrained The pre-drain hook'))
    expect(machines().map(isHooked)).not.toContain(false)
  },
)

it('control: without the mark the machine controller gives up its drain in time, and takes the second machine with its OSD', async () => {
  fixture = await openFencingFixture({ ...rollout, remediator: 'cluster-api' })
  const { isThere, remove, requests } = machinesOf(fixture)
  fixture.operate()
  await fixture.until('one machine may go', fixture.isOpen, 60)
  await remove('storage-1', 'storage-2')
  await fixture.until('both are gone', () => !isThere('storage-1') && !isThere('storage-2'), 900)
  expect(requests()).toEqual([])
  expect(fixture.oracle.taken).toHaveLength(1)
  expect(fixture.oracle.violations.join()).toContain('fell below its floor')
})

it('a sick node whose OSDs run on is fenced on clean data, and its hook does not keep it', async () => {
  fixture = await openFencingFixture({
    storage: 4,
    remediator: 'openshift',
    machineLabels: drainBeforeDelete,
    drain: {},
  })
  const { isThere, whenHooked } = machinesOf(fixture)
  fixture.operate()
  await whenHooked()
  fixture.sicken('storage-1')
  await fixture.until('it is gone', () => !isThere('storage-1'), 900)
  expect(fixture.oracle.violations).toEqual([])
})

it('a node that an administrator has drained to remove it is not drained twice, and its Machine goes at once', async () => {
  fixture = await openFencingFixture({
    storage: 4,
    remediator: 'cluster-api',
    machineLabels: drainBeforeDelete,
    drain: {},
  })
  const { isThere, whenHooked, remove, requests } = machinesOf(fixture)
  fixture.operate()
  await whenHooked()
  await fixture.request('of-ann', 'storage-1', { intent: 'Remove', force: true, deleteEmptyDirData: true })
  await fixture.until('it is drained', () => fixture.phaseOf('of-ann') === 'Drained', 300)
  await remove('storage-1')
  await fixture.until('it is gone', () => !isThere('storage-1'), 60)
  await fixture.until('her request is over', () => fixture.phaseOf('of-ann') === 'Completed', 1800)
  expect(requests()).toHaveLength(1)
  expect(fixture.oracle.violations).toEqual([])
})
