import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { machineDisruptionBudgets } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type FencingFixture, type FencingFixtureOptions, openFencingFixture } from './testing/fencing-fixture.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

/** Quick health checks and quick machines: what is waited for is the data. */
const quick: FencingFixtureOptions = { notReadySeconds: 60, timings: { provisionSeconds: 20, terminateSeconds: 5 } }

async function openGuarded(options: FencingFixtureOptions = {}): Promise<void> {
  fixture = await openFencingFixture({ ...quick, ...options })
  fixture.operate()
  await fixture.until('one machine may go', fixture.isOpen, 60)
}

const isMachine = (name: string) => fixture.machineNames().includes(name)
const isFenced = (name: string) => () => !isMachine(name)

describe('the data decides', () => {
  it('while copies are missing elsewhere a sick machine stays, and it goes when all data is clean again', async () => {
    await openGuarded({ outAfterSeconds: 150 })
    fixture.failDisk(3)
    await fixture.until('the budget is closed', () => !fixture.isOpen(), 60)
    fixture.sicken('storage-1')
    await fixture.seconds(110)
    expect(fixture.oracle.taken).toEqual([])
    await fixture.until('it is fenced when the data has moved', isFenced('storage-1'), 300)
    expect(fixture.oracle.violations).toEqual([])
  })

  it('a dead node whose OSD pod hangs in Terminating for ever is fenced while data is degraded', async () => {
    await openGuarded()
    fixture.kill('storage-1')
    await fixture.until('it is silent', async () => (await fixture.told('storage-1')).length > 0, 90)
    const [osd] = [...fixture.views.of(pods).values()].filter(
      ({ metadata, spec }) => metadata.labels?.['app'] === 'rook-ceph-osd' && spec.nodeName === 'storage-1',
    )
    await fixture.api.delete(pods, { namespace: 'rook-ceph', name: osd?.metadata.name ?? '' })
    await fixture.seconds(20)
    expect([...fixture.views.of(pods).values()].some(({ metadata }) => metadata.uid === osd?.metadata.uid)).toBe(true)
    expect(fixture.labelled()).not.toContain('storage-1 rook-ceph')
    expect(fixture.isOpen()).toBe(false)
    await fixture.until('it is fenced', isFenced('storage-1'), 120)
    await fixture.until('one machine may go again', fixture.isOpen, 300)
    expect(fixture.oracle.violations).toEqual([])
  })

  it('while no mgr is up nobody knows, so nothing goes; with the next mgr it does', async () => {
    await openGuarded({ notReadySeconds: 120 })
    fixture.sicken('storage-1')
    await fixture.seconds(20)
    fixture.ceph[0]?.controls.killMgr(170_000)
    await fixture.seconds(150)
    expect({ isOpen: fixture.isOpen(), taken: fixture.oracle.taken }).toEqual({ isOpen: false, taken: [] })
    await fixture.until('it is fenced', isFenced('storage-1'), 240)
    expect(fixture.oracle.violations).toEqual([])
  })

  it('while Ceph is silent labels stay and nothing goes; when it answers, the sick machine goes', async () => {
    await openGuarded()
    fixture.silenceCeph()
    fixture.sicken('storage-1')
    await fixture.until('the budget is closed', () => !fixture.isOpen(), 70)
    await fixture.seconds(120)
    expect(fixture.labelled()).toHaveLength(4)
    expect(fixture.oracle.taken).toEqual([])
    fixture.letCephAnswer()
    await fixture.until('it is fenced', isFenced('storage-1'), 240)
    expect(fixture.oracle.violations).toEqual([])
  })

  it('a reboot is over when the node is back on another boot and all data is clean, and not before', async () => {
    await openGuarded({ remedy: 'reboot', timings: { rebootSeconds: 40 } })
    fixture.sicken('storage-1', 'storage-2')
    await fixture.until('the first is rebooted', () => fixture.oracle.taken.length === 1, 90)
    expect(await fixture.storageKeys()).toEqual([`storage/rook-ceph/rook-ceph for ${fixture.oracle.taken[0]}`])
    await fixture.until('the second is rebooted', () => fixture.oracle.taken.length === 2, 400)
    await fixture.until('one machine may go again', fixture.isOpen, 400)
    expect([...fixture.oracle.taken].sort()).toEqual(['storage-1', 'storage-2'])
    expect(await fixture.storageKeys()).toEqual([])
    expect(fixture.machineNames()).toContain('storage-1')
    expect(fixture.oracle.violations).toEqual([])
  })

  it('a node that is back from its fence and falls sick anew waits like any other while copies are missing elsewhere', async () => {
    await openGuarded({ remediator: 'medik8s', outAfterSeconds: 150, timings: { rebootSeconds: 20 } })
    fixture.sicken('storage-1')
    await fixture.until('it is rebooted', () => fixture.oracle.taken.length === 1, 120)
    await fixture.until('its OSDs are back', () => fixture.world.kubelet.isOn('storage-1'), 60)
    await fixture.seconds(15)
    fixture.failDisk(3)
    fixture.sicken('storage-1')
    await fixture.seconds(110)
    expect(fixture.oracle.taken).toEqual(['storage-1'])
    await fixture.until('it is rebooted again when the data has moved', () => fixture.oracle.taken.length === 2, 400)
    await fixture.until('one machine may go again', fixture.isOpen, 300)
    expect(fixture.oracle.violations).toEqual([])
  })

  it('volumes that are lost with their machine: nothing more goes until the data has been copied anew', async () => {
    await openGuarded({ volumes: 'lost', outAfterSeconds: 100, maintenanceMinutes: 3 })
    fixture.sicken('storage-1')
    await fixture.until('it is fenced', isFenced('storage-1'), 120)
    fixture.sicken('storage-2')
    await fixture.seconds(170)
    expect({ isOpen: fixture.isOpen(), taken: fixture.oracle.taken }).toEqual({ isOpen: false, taken: ['storage-1'] })
    await fixture.until('the second is fenced', () => fixture.oracle.taken.includes('storage-2'), 300)
    expect(fixture.oracle.violations).toEqual([])
  })
})

describe('several clusters', () => {
  const beside = [{ namespace: 'archive', name: 'archive' }]

  it('a machine with OSDs of two clusters goes only when both can spare it', async () => {
    await openGuarded({ beside, outAfterSeconds: 180 })
    await fixture.until('the other may spare one too', () => fixture.isOpen('archive-archive'), 60)
    expect(fixture.labelled()).toHaveLength(8)
    fixture.ceph[1]?.controls.failDisk(3)
    await fixture.until('the other is closed', () => !fixture.isOpen('archive-archive'), 60)
    fixture.sicken('storage-1')
    await fixture.seconds(110)
    expect({ isOpen: fixture.isOpen(), taken: fixture.oracle.taken }).toEqual({ isOpen: true, taken: [] })
    await fixture.until('it is fenced', isFenced('storage-1'), 300)
    expect(fixture.oracle.violations).toEqual([])
  })

  it('two clusters of one name have labels and budgets of their own', async () => {
    await openGuarded({ storage: 3, beside: [{ namespace: 'archive', name: 'rook-ceph' }] })
    await fixture.until('the other may spare one too', () => fixture.isOpen('rook-ceph-archive'), 60)
    expect(fixture.labelled()).toEqual(
      [1, 2, 3].flatMap((number) => [`storage-${number} rook-ceph.archive`, `storage-${number} rook-ceph.rook-ceph`]),
    )
    expect(fixture.oracle.violations).toEqual([])
  })

  it('one that cannot be asked is closed, and the other goes on', async () => {
    fixture = await openFencingFixture({ ...quick, storage: 3, beside })
    fixture.silenceCeph('archive')
    fixture.operate()
    await fixture.until('one machine may go', fixture.isOpen, 60)
    await fixture.seconds(60)
    expect(fixture.budget('archive-archive')).toMatch(/^maxUnavailable 0: 0 allowed/)
    expect((await fixture.told('archive')).join()).toContain('FenceUnknown')
    expect(fixture.isOpen()).toBe(true)
    expect(fixture.oracle.violations).toEqual([])
  })

  it('one that is deleted takes its budget and labels with it, and nothing of the other', async () => {
    await openGuarded({ storage: 3, beside })
    await fixture.until('the other may spare one too', () => fixture.isOpen('archive-archive'), 60)
    await fixture.api.delete(cephClusters, { namespace: 'archive', name: 'archive' })
    await fixture.until('its budget is gone', () => fixture.budgetObject('archive-archive') === undefined, 90)
    await fixture.until('its labels are gone', () => fixture.labelled().length === 3, 90)
    expect(fixture.labelled()).toEqual([1, 2, 3].map((number) => `storage-${number} rook-ceph`))
    expect(fixture.isOpen()).toBe(true)
  })
})

describe('what others do', () => {
  it('a budget that is edited by hand is put right, and told', async () => {
    await openGuarded({ storage: 3 })
    const key = { namespace: 'openshift-machine-api', name: 'rook-ceph-rook-ceph' }
    await fixture.api.patch(machineDisruptionBudgets, key, { type: 'merge', body: { spec: { maxUnavailable: 3 } } })
    await fixture.until('it is right again', () => fixture.budgetObject()?.spec?.maxUnavailable === 1, 30)
    expect((await fixture.told(key.name)).join()).toContain('ObjectsUnusable')
    await fixture.api.delete(machineDisruptionBudgets, key)
    await fixture.until('it is there again', fixture.isOpen, 60)
    expect(fixture.oracle.violations).toEqual([])
  })

  it('without the kind of budgets nothing with OSDs goes; when it comes, all is as usual', async () => {
    fixture = await openFencingFixture({
      ...quick,
      storage: 3,
      compute: 1,
      remediator: 'medik8s',
      withoutBudgets: true,
    })
    fixture.operate()
    await fixture.seconds(15)
    fixture.sicken('storage-1', 'compute-1')
    await fixture.until(
      'the node without OSDs is mended',
      () => fixture.remediator?.controls.remediated().length === 1,
      90,
    )
    await fixture.seconds(60)
    expect(fixture.remediator?.controls.remediated().map(({ node }) => node)).toEqual(['compute-1'])
    expect((await fixture.toldAll()).join()).toContain('MachineDisruptionBudget')
    expect(fixture.oracle.violations).toEqual([])
  })

  it('machines without node or providerID, and with fields that make no sense, disturb nobody', async () => {
    fixture = await openFencingFixture({ ...quick, storage: 3 })
    const odd = (name: string, rest: object): Machine => ({
      apiVersion: apiVersionOf(fixture.kinds.machines),
      kind: 'Machine',
      metadata: { name, namespace: fixture.kinds.namespace },
      ...rest,
    })
    await fixture.api.create(fixture.kinds.machines, odd('blank', {}))
    const ghost = await fixture.api.create(
      fixture.kinds.machines,
      odd('ghost', { spec: { providerID: 'aws:///z/i-1' } }),
    )
    await fixture.api.update(
      fixture.kinds.machines,
      { ...ghost, status: { nodeRef: { name: 'no-such-node' }, phase: 7 } } as unknown as Machine,
      { subresource: 'status' },
    )
    fixture.operate()
    await fixture.until('one machine may go', fixture.isOpen, 60)
    expect(fixture.labelled()).toEqual([1, 2, 3].map((number) => `storage-${number} rook-ceph`))
    expect(fixture.oracle.violations).toEqual([])
  })

  it('a health check that nobody looks after is told, and so is one that does not hear', async () => {
    fixture = await openFencingFixture({ ...quick, storage: 3, remediator: 'absent' })
    fixture.operate()
    await fixture.until('one machine may go', fixture.isOpen, 60)
    expect((await fixture.told('workers')).join()).toContain('ObjectsUnusable')
    await fixture.close()

    await openGuarded({ storage: 3, remediator: 'medik8s-without-leases', notReadySeconds: 900 })
    fixture.remediator?.controls.setListening(false)
    fixture.failDisk(2)
    fixture.sicken('storage-1')
    await fixture.until(
      'it is told',
      async () => (await fixture.told('workers')).join().includes('its controller does not listen'),
      240,
    )
    expect(fixture.oracle.violations).toEqual([])
  })
})
