import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { createDisruption, installDefinitions, ledgerObject } from '../../../ledger/store/testing/ledger-stage.ts'
import { nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { newImage, type OsdUpdateStage, openOsdUpdateStage } from '../testing/osd-update-stage.ts'

let stage: OsdUpdateStage

afterEach(() => stage.close())

async function open(): Promise<void> {
  stage = await openOsdUpdateStage()
  await installDefinitions(stage.api)
  stage.operate({ controllers: ['ceph-drain', 'osd-update', 'node-disruption', 'disruption-ledger'] })
  await stage.seconds(120)
}

async function phaseOf(name: string): Promise<string> {
  const { status } = await stage.api.get(nodeDisruptions, { name })
  return status?.phase ?? 'Pending'
}

async function holders(): Promise<string[]> {
  const { status } = await ledgerObject(stage.api)
  return (status?.entries ?? []).map(({ requestId, scope }) => `${requestId.split('/')[0]} holds ${scope || 'all'}`)
}

const isUpdated = async () => (await stage.images()).join() === newImage

describe('one storage, an update and a reboot', () => {
  it('the update came first: the reboot waits until what is on its way is back, and then goes before the rest', async () => {
    await open()
    await stage.wantImage(newImage)
    expect(await stage.until(async () => (await stage.images()).includes(newImage), 60)).toBe(true)
    expect(await holders()).toEqual(['osd-update holds all'])
    await createDisruption(stage.api, 'reboot-y', 'node-y')
    expect(await stage.until(async () => (await phaseOf('reboot-y')) === 'Drained', 300)).toBe(true)
    expect(await stage.images()).toEqual([cephImage, newImage])
    expect(await holders()).not.toContain('osd-update holds all')
    stage.world.kubelet.reboot('node-y', 20)
    expect(await stage.until(async () => (await phaseOf('reboot-y')) === 'Completed', 600)).toBe(true)
    expect(await stage.until(isUpdated, 900)).toBe(true)
    await stage.watch(120)
    expect([stage.broken, await holders()]).toEqual([[], []])
  })

  it('the reboot came first: no OSD is updated before its node is back and all data is clean', async () => {
    await open()
    await createDisruption(stage.api, 'reboot-y', 'node-y')
    expect(await stage.until(async () => (await phaseOf('reboot-y')) === 'Drained', 300)).toBe(true)
    await stage.wantImage(newImage)
    await stage.watch(60)
    expect(await stage.images()).toEqual([cephImage])
    expect(await stage.told()).toContain('Normal StorageKeyHeld')
    stage.world.kubelet.reboot('node-y', 20)
    expect(await stage.until(isUpdated, 900)).toBe(true)
    await stage.watch(120)
    expect([stage.broken, await holders(), await phaseOf('reboot-y')]).toEqual([[], [], 'Completed'])
  })
})

describe('a storage that an update cannot make use of', () => {
  it('Ceph says no to the first OSD: the storage is not kept for it, so nobody else has to wait', async () => {
    await open()
    stage.ceph.controls.lieOkToStop('no')
    await stage.wantImage(newImage)
    await stage.watch(30)
    expect([await stage.told(), await holders()]).toEqual([expect.arrayContaining(['Warning CephDisagrees']), []])
  })
})
