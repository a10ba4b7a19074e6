import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { smallCluster } from '../../ceph-drain/testing/ceph-stage.ts'
import { newImage, type OsdUpdateStage, openOsdUpdateStage } from '../testing/osd-update-stage.ts'

let stage: OsdUpdateStage
afterEach(async () => {
  await stage.close()
  expect(stage.failures).toEqual([])
})

async function openWith(annotations: Record<string, string>, file = smallCluster): Promise<void> {
  stage = await openOsdUpdateStage(file)
  await stage.patchCluster({ metadata: { annotations } })
  stage.operate({ controllers: ['osd-update'] })
  await stage.seconds(90)
}

const isUpdated = async () => (await stage.images()).join() === newImage
const disagreements = async () => {
  const text = await stage.metrics.registry.metrics()
  return Number(/^cofferdam_ceph_disagreements_total\{[^}]*\} (\d+)$/m.exec(text)?.[1] ?? 0)
}

describe('the conservative strategy ok-to-stop', () => {
  const annotations = { 'cofferdam.io/update-strategy': 'ok-to-stop', 'cofferdam.io/update-max-in-parallel': '4' }

  it('updates all, batch after batch as Ceph names them, and every placement group keeps its floor', async () => {
    await openWith(annotations)
    await stage.wantImage(newImage)
    expect(await stage.until(isUpdated, 900)).toBe(true)
    await stage.watch(60)
    expect(stage.broken).toEqual([])
    expect(stage.mostDown()).toBe(2)
    expect(await stage.told()).toEqual(['Normal OsdsUpdating', 'Normal OsdsUpToDate'])
  })

  it('a Ceph that calls everything safe is believed nothing: nothing starts, and there is an alarm', async () => {
    await openWith(annotations)
    stage.ceph.controls.lieOkToStop('yes')
    await stage.wantImage(newImage)
    await stage.watch(120)
    expect([await stage.images(), await stage.told(), await disagreements()]).toEqual([
      [cephImage],
      ['Warning CephDisagrees'],
      1,
    ])
  })

  it('a Ceph that refuses everything holds the update, and there is an alarm', async () => {
    await openWith(annotations)
    stage.ceph.controls.lieOkToStop('no')
    await stage.wantImage(newImage)
    await stage.watch(120)
    expect([await stage.images(), await stage.told(), await disagreements()]).toEqual([
      [cephImage],
      ['Warning CephDisagrees'],
      1,
    ])
    stage.ceph.controls.lieOkToStop(undefined)
    expect(await stage.until(isUpdated, 900)).toBe(true)
  })
})

describe('the strategy ok-to-upgrade', () => {
  const strategy = { 'cofferdam.io/update-strategy': 'ok-to-upgrade' }

  it('updates all where Ceph has the command', async () => {
    await openWith(
      { ...strategy, 'cofferdam.io/update-ceph-version': '20.2.5-9-g1234abc' },
      smallCluster.replace('pgs: 16', 'pgs: 64'),
    )
    stage.ceph.controls.tentacleOkToStop(true)
    await stage.wantImage(newImage)
    expect(await stage.until(isUpdated, 900)).toBe(true)
    expect(stage.broken).toEqual([])
    expect(stage.asked).toContain('osd ok-to-upgrade')
  })

  it('falls back to ok-to-stop where Ceph lacks the command, says so once, and updates all', async () => {
    await openWith({ ...strategy, 'cofferdam.io/update-ceph-version': '20.2.5-9-g1234abc' })
    await stage.wantImage(newImage)
    expect(await stage.until(isUpdated, 900)).toBe(true)
    expect((await stage.told()).filter((told) => told === 'Warning ObjectsUnusable')).toHaveLength(1)
    expect(stage.broken).toEqual([])
  })
})

describe('an ok-to-stop that is worth nothing', () => {
  it('is noticed before the first batch, counted and told, and our own reckoning alone keeps every floor', async () => {
    await openWith({ 'cofferdam.io/update-max-in-parallel': '100%' })
    stage.ceph.controls.lieOkToStop('yes')
    await stage.wantImage(newImage)
    expect(await stage.until(isUpdated, 900)).toBe(true)
    await stage.watch(60)
    expect(stage.broken).toEqual([])
    expect(await stage.told()).toEqual(['Normal OsdsUpdating', 'Warning ObjectsUnusable', 'Normal OsdsUpToDate'])
    expect(await disagreements()).toBe(1)
  })
})
