import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { createDisruption, installDefinitions, ledgerObject } from '../../../ledger/store/testing/ledger-fixture.ts'
import { nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

let fixture: OsdUpdateFixture

afterEach(() => fixture.close())

async function open(): Promise<void> {
  fixture = await openOsdUpdateFixture()
  await installDefinitions(fixture.api)
  fixture.operate({ controllers: ['ceph-drain', 'osd-update', 'node-disruption', 'disruption-ledger'] })
  await fixture.seconds(120)
}

async function phaseOf(name: string): Promise<string> {
  const { status } = await fixture.api.get(nodeDisruptions, { name })
  return status?.phase ?? 'Pending'
}

async function holders(): Promise<string[]> {
  const { status } = await ledgerObject(fixture.api)
  return (status?.entries ?? []).map(({ requestId, scope }) => `${requestId.split('/')[0]} holds ${scope || 'all'}`)
}

const isUpdated = async () => (await fixture.images()).join() === newImage

describe('one storage, an update and a reboot', () => {
  it('the update came first: the reboot waits until what is on its way is back, and then goes before the rest', async () => {
    await open()
    await fixture.wantImage(newImage)
    expect(await fixture.until(async () => (await fixture.images()).includes(newImage), 60)).toBe(true)
    expect(await holders()).toEqual(['osd-update holds all'])
    await createDisruption(fixture.api, 'reboot-y', 'node-y')
    expect(await fixture.until(async () => (await phaseOf('reboot-y')) === 'Drained', 300)).toBe(true)
    expect(await fixture.images()).toEqual([cephImage, newImage])
    expect(await holders()).not.toContain('osd-update holds all')
    fixture.world.kubelet.reboot('node-y', 20)
    expect(await fixture.until(async () => (await phaseOf('reboot-y')) === 'Completed', 600)).toBe(true)
    expect(await fixture.until(isUpdated, 900)).toBe(true)
    await fixture.watch(120)
    expect([fixture.broken, await holders()]).toEqual([[], []])
  })

  it('the reboot came first: no OSD is updated before its node is back and all data is clean', async () => {
    await open()
    await createDisruption(fixture.api, 'reboot-y', 'node-y')
    expect(await fixture.until(async () => (await phaseOf('reboot-y')) === 'Drained', 300)).toBe(true)
    await fixture.wantImage(newImage)
    await fixture.watch(60)
    expect(await fixture.images()).toEqual([cephImage])
    expect(await fixture.told()).toContain('Normal StorageKeyHeld')
    fixture.world.kubelet.reboot('node-y', 20)
    expect(await fixture.until(isUpdated, 900)).toBe(true)
    await fixture.watch(120)
    expect([fixture.broken, await holders(), await phaseOf('reboot-y')]).toEqual([[], [], 'Completed'])
  })
})

describe('a storage that an update cannot make use of', () => {
  it('Ceph says no to the first OSD: the storage is not kept for it, so nobody else has to wait', async () => {
    await open()
    fixture.ceph.controls.lieOkToStop('no')
    await fixture.wantImage(newImage)
    await fixture.watch(30)
    expect([await fixture.told(), await holders()]).toEqual([expect.arrayContaining(['Warning CephDisagrees']), []])
  })
})
