import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { machineDisruptionBudgets } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type FencingStage, type FencingStageOptions, openFencingStage } from './testing/fencing-stage.ts'

let stage: FencingStage
afterEach(() => stage.close())

/** Quick health checks and quick machines: what is waited for is the data. */
const quick: FencingStageOptions = { notReadySeconds: 60, timings: { provisionSeconds: 20, terminateSeconds: 5 } }

async function openGuarded(options: FencingStageOptions = {}): Promise<void> {
  stage = await openFencingStage({ ...quick, ...options })
  stage.operate()
  await stage.until('one machine may go', stage.isOpen, 60)
}

const isMachine = (name: string) => stage.machineNames().includes(name)
const isFenced = (name: string) => () => !isMachine(name)

describe('the data decides', () => {
  it('while copies are missing elsewhere a sick machine stays, and it goes when all data is clean again', async () => {
    await openGuarded({ outAfterSeconds: 150 })
    stage.failDisk(3)
    await stage.until('the budget is closed', () => !stage.isOpen(), 60)
    stage.sicken('storage-1')
    await stage.seconds(110)
    expect(stage.oracle.taken).toEqual([])
    await stage.until('it is fenced when the data has moved', isFenced('storage-1'), 300)
    expect(stage.oracle.violations).toEqual([])
  })

  it('a dead node whose OSD pod hangs in Terminating for ever is fenced while data is degraded', async () => {
    await openGuarded()
    stage.kill('storage-1')
    await stage.until('it is silent', async () => (await stage.told('storage-1')).length > 0, 90)
    const [osd] = [...stage.views.of(pods).values()].filter(
      ({ metadata, spec }) => metadata.labels?.['app'] === 'rook-ceph-osd' && spec.nodeName === 'storage-1',
    )
    await stage.api.delete(pods, { namespace: 'rook-ceph', name: osd?.metadata.name ?? '' })
    await stage.seconds(20)
    expect([...stage.views.of(pods).values()].some(({ metadata }) => metadata.uid === osd?.metadata.uid)).toBe(true)
    expect(stage.labelled()).not.toContain('storage-1 rook-ceph')
    expect(stage.isOpen()).toBe(false)
    await stage.until('it is fenced', isFenced('storage-1'), 120)
    await stage.until('one machine may go again', stage.isOpen, 300)
    expect(stage.oracle.violations).toEqual([])
  })

  it('while no mgr is up nobody knows, so nothing goes; with the next mgr it does', async () => {
    await openGuarded({ notReadySeconds: 120 })
    stage.sicken('storage-1')
    await stage.seconds(20)
    stage.ceph[0]?.controls.killMgr(170_000)
    await stage.seconds(150)
    expect({ isOpen: stage.isOpen(), taken: stage.oracle.taken }).toEqual({ isOpen: false, taken: [] })
    await stage.until('it is fenced', isFenced('storage-1'), 240)
    expect(stage.oracle.violations).toEqual([])
  })

  it('while Ceph is silent labels stay and nothing goes; when it answers, the sick machine goes', async () => {
    await openGuarded()
    stage.silenceCeph()
    stage.sicken('storage-1')
    await stage.until('the budget is closed', () => !stage.isOpen(), 70)
    await stage.seconds(120)
    expect(stage.labelled()).toHaveLength(4)
    expect(stage.oracle.taken).toEqual([])
    stage.letCephAnswer()
    await stage.until('it is fenced', isFenced('storage-1'), 240)
    expect(stage.oracle.violations).toEqual([])
  })

  it('a reboot is over when the node is back on another boot and all data is clean, and not before', async () => {
    await openGuarded({ remedy: 'reboot', timings: { rebootSeconds: 40 } })
    stage.sicken('storage-1', 'storage-2')
    await stage.until('the first is rebooted', () => stage.oracle.taken.length === 1, 90)
    expect(await stage.storageKeys()).toEqual([`storage/rook-ceph/rook-ceph for ${stage.oracle.taken[0]}`])
    await stage.until('the second is rebooted', () => stage.oracle.taken.length === 2, 400)
    await stage.until('one machine may go again', stage.isOpen, 400)
    expect([...stage.oracle.taken].sort()).toEqual(['storage-1', 'storage-2'])
    expect(await stage.storageKeys()).toEqual([])
    expect(stage.machineNames()).toContain('storage-1')
    expect(stage.oracle.violations).toEqual([])
  })

  it('a node that is back from its fence and falls sick anew waits like any other while copies are missing elsewhere', async () => {
    await openGuarded({ remediator: 'medik8s', outAfterSeconds: 150, timings: { rebootSeconds: 20 } })
    stage.sicken('storage-1')
    await stage.until('it is rebooted', () => stage.oracle.taken.length === 1, 120)
    await stage.until('its OSDs are back', () => stage.world.kubelet.isOn('storage-1'), 60)
    await stage.seconds(15)
    stage.failDisk(3)
    stage.sicken('storage-1')
    await stage.seconds(110)
    expect(stage.oracle.taken).toEqual(['storage-1'])
    await stage.until('it is rebooted again when the data has moved', () => stage.oracle.taken.length === 2, 400)
    await stage.until('one machine may go again', stage.isOpen, 300)
    expect(stage.oracle.violations).toEqual([])
  })

  it('volumes that are lost with their machine: nothing more goes until the data has been copied anew', async () => {
    await openGuarded({ volumes: 'lost', outAfterSeconds: 100, maintenanceMinutes: 3 })
    stage.sicken('storage-1')
    await stage.until('it is fenced', isFenced('storage-1'), 120)
    stage.sicken('storage-2')
    await stage.seconds(170)
    expect({ isOpen: stage.isOpen(), taken: stage.oracle.taken }).toEqual({ isOpen: false, taken: ['storage-1'] })
    await stage.until('the second is fenced', () => stage.oracle.taken.includes('storage-2'), 300)
    expect(stage.oracle.violations).toEqual([])
  })
})

describe('several clusters', () => {
  const beside = [{ namespace: 'archive', name: 'archive' }]

  it('a machine with OSDs of two clusters goes only when both can spare it', async () => {
    await openGuarded({ beside, outAfterSeconds: 180 })
    await stage.until('the other may spare one too', () => stage.isOpen('archive-archive'), 60)
    expect(stage.labelled()).toHaveLength(8)
    stage.ceph[1]?.controls.failDisk(3)
    await stage.until('the other is closed', () => !stage.isOpen('archive-archive'), 60)
    stage.sicken('storage-1')
    await stage.seconds(110)
    expect({ isOpen: stage.isOpen(), taken: stage.oracle.taken }).toEqual({ isOpen: true, taken: [] })
    await stage.until('it is fenced', isFenced('storage-1'), 300)
    expect(stage.oracle.violations).toEqual([])
  })

  it('two clusters of one name have labels and budgets of their own', async () => {
    await openGuarded({ storage: 3, beside: [{ namespace: 'archive', name: 'rook-ceph' }] })
    await stage.until('the other may spare one too', () => stage.isOpen('rook-ceph-archive'), 60)
    expect(stage.labelled()).toEqual(
      [1, 2, 3].flatMap((number) => [`storage-${number} rook-ceph.archive`, `storage-${number} rook-ceph.rook-ceph`]),
    )
    expect(stage.oracle.violations).toEqual([])
  })

  it('one that cannot be asked is closed, and the other goes on', async () => {
    stage = await openFencingStage({ ...quick, storage: 3, beside })
    stage.silenceCeph('archive')
    stage.operate()
    await stage.until('one machine may go', stage.isOpen, 60)
    await stage.seconds(60)
    expect(stage.budget('archive-archive')).toMatch(/^maxUnavailable 0: 0 allowed/)
    expect((await stage.told('archive')).join()).toContain('FenceUnknown')
    expect(stage.isOpen()).toBe(true)
    expect(stage.oracle.violations).toEqual([])
  })

  it('one that is deleted takes its budget and labels with it, and nothing of the other', async () => {
    await openGuarded({ storage: 3, beside })
    await stage.until('the other may spare one too', () => stage.isOpen('archive-archive'), 60)
    await stage.api.delete(cephClusters, { namespace: 'archive', name: 'archive' })
    await stage.until('its budget is gone', () => stage.budgetObject('archive-archive') === undefined, 90)
    await stage.until('its labels are gone', () => stage.labelled().length === 3, 90)
    expect(stage.labelled()).toEqual([1, 2, 3].map((number) => `storage-${number} rook-ceph`))
    expect(stage.isOpen()).toBe(true)
  })
})

describe('what others do', () => {
  it('a budget that is edited by hand is put right, and told', async () => {
    await openGuarded({ storage: 3 })
    const key = { namespace: 'openshift-machine-api', name: 'rook-ceph-rook-ceph' }
    await stage.api.patch(machineDisruptionBudgets, key, { type: 'merge', body: { spec: { maxUnavailable: 3 } } })
    await stage.until('it is right again', () => stage.budgetObject()?.spec?.maxUnavailable === 1, 30)
    expect((await stage.told(key.name)).join()).toContain('ObjectsUnusable')
    await stage.api.delete(machineDisruptionBudgets, key)
    await stage.until('it is there again', stage.isOpen, 60)
    expect(stage.oracle.violations).toEqual([])
  })

  it('without the kind of budgets nothing with OSDs goes; when it comes, all is as usual', async () => {
    stage = await openFencingStage({ ...quick, storage: 3, compute: 1, remediator: 'medik8s', withoutBudgets: true })
    stage.operate()
    await stage.seconds(15)
    stage.sicken('storage-1', 'compute-1')
    await stage.until('the node without OSDs is mended', () => stage.remediator?.controls.remediated().length === 1, 90)
    await stage.seconds(60)
    expect(stage.remediator?.controls.remediated().map(({ node }) => node)).toEqual(['compute-1'])
    expect((await stage.toldAll()).join()).toContain('MachineDisruptionBudget')
    expect(stage.oracle.violations).toEqual([])
  })

  it('machines without node or providerID, and with fields that make no sense, disturb nobody', async () => {
    stage = await openFencingStage({ ...quick, storage: 3 })
    const odd = (name: string, rest: object): Machine => ({
      apiVersion: apiVersionOf(stage.kinds.machines),
      kind: 'Machine',
      metadata: { name, namespace: stage.kinds.namespace },
      ...rest,
    })
    await stage.api.create(stage.kinds.machines, odd('blank', {}))
    const ghost = await stage.api.create(stage.kinds.machines, odd('ghost', { spec: { providerID: 'aws:///z/i-1' } }))
    await stage.api.update(
      stage.kinds.machines,
      { ...ghost, status: { nodeRef: { name: 'no-such-node' }, phase: 7 } } as unknown as Machine,
      { subresource: 'status' },
    )
    stage.operate()
    await stage.until('one machine may go', stage.isOpen, 60)
    expect(stage.labelled()).toEqual([1, 2, 3].map((number) => `storage-${number} rook-ceph`))
    expect(stage.oracle.violations).toEqual([])
  })

  it('a health check that nobody looks after is told, and so is one that does not hear', async () => {
    stage = await openFencingStage({ ...quick, storage: 3, remediator: 'absent' })
    stage.operate()
    await stage.until('one machine may go', stage.isOpen, 60)
    expect((await stage.told('workers')).join()).toContain('ObjectsUnusable')
    await stage.close()

    await openGuarded({ storage: 3, remediator: 'medik8s-without-leases', notReadySeconds: 900 })
    stage.remediator?.controls.setListening(false)
    stage.failDisk(2)
    stage.sicken('storage-1')
    await stage.until(
      'it is told',
      async () => (await stage.told('workers')).join().includes('its controller does not listen'),
      240,
    )
    expect(stage.oracle.violations).toEqual([])
  })
})
