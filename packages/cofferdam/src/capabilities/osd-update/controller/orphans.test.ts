import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { installDefinitions, ledgerObject } from '../../../ledger/store/testing/ledger-stage.ts'
import type { ControllerName } from '../../../operator/controller-names.ts'
import { dyingAfter } from '../../../operator/testing/dying-after.ts'
import { newImage, type OsdUpdateStage, openOsdUpdateStage } from '../testing/osd-update-stage.ts'

const all: readonly ControllerName[] = ['osd-update', 'disruption-ledger', 'node-disruption', 'ceph-drain']

let stage: OsdUpdateStage
afterEach(() => stage.close())

const held = async () => {
  const { status } = await ledgerObject(stage.api)
  return (status?.entries ?? []).map(({ requestId, state }) => `${requestId.split('/')[0]} ${state}`)
}
const isFree = async () => (await held()).length === 0
const isUpdated = async () => (await stage.images()).join() === newImage

/** The operator is gone in the middle of an update, without a word: the ledger still has the storage held for it. */
async function openAbandoned({ recoveryRate = 2 } = {}): Promise<void> {
  stage = await openOsdUpdateStage()
  await installDefinitions(stage.api)
  const line = dyingAfter(stage.api, Number.POSITIVE_INFINITY)
  const operator = stage.operate({ api: line.api, controllers: all })
  await stage.seconds(120)
  stage.ceph.controls.setRecoveryRate(recoveryRate)
  await stage.wantImage(newImage)
  expect(await stage.until(async () => (await stage.images()).includes(newImage), 60)).toBe(true)
  line.kill()
  const ended = operator.stop()
  await stage.watch(20)
  await ended
  expect(await held()).toEqual(['osd-update Acting'])
}

describe('an operator that died in the middle of an update', () => {
  it('the next one carries on what it held, and gives it back at the end', async () => {
    await openAbandoned()
    stage.operate({ controllers: all })
    expect(await stage.until(isUpdated, 600)).toBe(true)
    expect(await stage.until(isFree, 120)).toBe(true)
    expect(stage.broken).toEqual([])
  })

  it('its cluster was deleted meanwhile: nothing is held for a storage that is gone', async () => {
    await openAbandoned()
    await stage.deleteCluster()
    stage.operate({ controllers: all })
    await stage.seconds(180)
    expect(await held()).toEqual([])
  })

  it('its cluster takes back what it wanted: what was on its way comes back first, and then the storage is free', async () => {
    await openAbandoned()
    await stage.wantImage(cephImage)
    stage.operate({ controllers: all })
    expect(await stage.until(async () => (await stage.images()).join() === cephImage, 300)).toBe(true)
    expect(await stage.until(isFree, 120)).toBe(true)
    expect(stage.broken).toEqual([])
  })

  it('nobody updates any more: the storage counts as held until all data is clean, and is free then', async () => {
    await openAbandoned({ recoveryRate: 0 })
    stage.operate({ controllers: ['disruption-ledger', 'node-disruption', 'ceph-drain'] })
    await stage.watch(180)
    const beside = await held()
    stage.ceph.controls.setRecoveryRate(5)
    expect(await stage.until(isFree, 300)).toBe(true)
    expect(beside.filter((entry) => entry.startsWith('osd-update'))).toEqual(['osd-update Orphaned'])
  })
})
