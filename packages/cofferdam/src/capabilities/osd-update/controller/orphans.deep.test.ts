import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { installDefinitions, ledgerObject } from '../../../ledger/store/testing/ledger-fixture.ts'
import type { ControllerName } from '../../../operator/controller-names.ts'
import { dyingAfter } from '../../../operator/testing/dying-after.ts'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

const all: readonly ControllerName[] = ['osd-update', 'disruption-ledger', 'node-disruption', 'ceph-drain']

let fixture: OsdUpdateFixture
afterEach(() => fixture.close())

const held = async () => {
  const { status } = await ledgerObject(fixture.api)
  return (status?.entries ?? []).map(({ requestId, state }) => `${requestId.split('/')[0]} ${state}`)
}
const isFree = async () => (await held()).length === 0
const isUpdated = async () => (await fixture.images()).join() === newImage

/** The operator is gone in the middle of an update, without a word: the ledger still has the storage held for it. */
async function openAbandoned({ recoveryRate = 2 } = {}): Promise<void> {
  fixture = await openOsdUpdateFixture()
  await installDefinitions(fixture.api)
  const line = dyingAfter(fixture.api, Number.POSITIVE_INFINITY)
  const operator = fixture.operate({ api: line.api, controllers: all })
  await fixture.seconds(120)
  fixture.ceph.controls.setRecoveryRate(recoveryRate)
  await fixture.wantImage(newImage)
  expect(await fixture.until(async () => (await fixture.images()).includes(newImage), 60)).toBe(true)
  line.kill()
  const ended = operator.stop()
  await fixture.watch(20)
  await ended
  expect(await held()).toEqual(['osd-update Acting'])
}

describe('an operator that died in the middle of an update', () => {
  it('the next one carries on what it held, and gives it back at the end', async () => {
    await openAbandoned()
    fixture.operate({ controllers: all })
    expect(await fixture.until(isUpdated, 600)).toBe(true)
    expect(await fixture.until(isFree, 120)).toBe(true)
    expect(fixture.broken).toEqual([])
  })

  it('its cluster was deleted meanwhile: nothing is held for a storage that is gone', async () => {
    await openAbandoned()
    await fixture.deleteCluster()
    fixture.operate({ controllers: all })
    await fixture.seconds(180)
    expect(await held()).toEqual([])
  })

  it('its cluster takes back what it wanted: what was on its way comes back first, and then the storage is free', async () => {
    await openAbandoned()
    await fixture.wantImage(cephImage)
    fixture.operate({ controllers: all })
    expect(await fixture.until(async () => (await fixture.images()).join() === cephImage, 300)).toBe(true)
    expect(await fixture.until(isFree, 120)).toBe(true)
    expect(fixture.broken).toEqual([])
  })

  it('nobody updates any more: the storage counts as held until all data is clean, and is free then', async () => {
    await openAbandoned({ recoveryRate: 0 })
    fixture.operate({ controllers: ['disruption-ledger', 'node-disruption', 'ceph-drain'] })
    await fixture.watch(180)
    const beside = await held()
    fixture.ceph.controls.setRecoveryRate(5)
    expect(await fixture.until(isFree, 300)).toBe(true)
    expect(beside.filter((entry) => entry.startsWith('osd-update'))).toEqual(['osd-update Orphaned'])
  })
})
