import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { smallCluster } from '../../ceph-drain/testing/ceph-fixture.ts'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

let fixture: OsdUpdateFixture
afterEach(async () => {
  await fixture.close()
  expect(fixture.failures).toEqual([])
})

async function openWith(annotations: Record<string, string>, file = smallCluster): Promise<void> {
  fixture = await openOsdUpdateFixture(file)
  await fixture.patchCluster({ metadata: { annotations } })
  fixture.operate({ controllers: ['osd-update'] })
  await fixture.seconds(90)
}

const isUpdated = async () => (await fixture.images()).join() === newImage
const disagreements = async () => {
  const text = await fixture.metrics.registry.metrics()
  return Number(/^cofferdam_ceph_disagreements_total\{[^}]*\} (\d+)$/m.exec(text)?.[1] ?? 0)
}

describe('the conservative strategy ok-to-stop', () => {
  const annotations = { 'cofferdam.io/update-strategy': 'ok-to-stop', 'cofferdam.io/update-max-in-parallel': '4' }

  it('updates all, batch after batch as Ceph names them, and every placement group keeps its floor', async () => {
    await openWith(annotations)
    await fixture.wantImage(newImage)
    expect(await fixture.until(isUpdated, 900)).toBe(true)
    await fixture.watch(60)
    expect(fixture.broken).toEqual([])
    expect(fixture.mostDown()).toBe(2)
    expect(await fixture.told()).toEqual(['Normal OsdsUpdating', 'Normal OsdsUpToDate'])
  })

  it('a Ceph that calls everything safe is believed nothing: nothing starts, and there is an alarm', async () => {
    await openWith(annotations)
    fixture.ceph.controls.lieOkToStop('yes')
    await fixture.wantImage(newImage)
    await fixture.watch(120)
    expect([await fixture.images(), await fixture.told(), await disagreements()]).toEqual([
      [cephImage],
      ['Warning CephDisagrees'],
      1,
    ])
  })

  it('a Ceph that refuses everything holds the update, and there is an alarm', async () => {
    await openWith(annotations)
    fixture.ceph.controls.lieOkToStop('no')
    await fixture.wantImage(newImage)
    await fixture.watch(120)
    expect([await fixture.images(), await fixture.told(), await disagreements()]).toEqual([
      [cephImage],
      ['Warning CephDisagrees'],
      1,
    ])
    fixture.ceph.controls.lieOkToStop(undefined)
    expect(await fixture.until(isUpdated, 900)).toBe(true)
  })
})

describe('the strategy ok-to-upgrade', () => {
  const strategy = { 'cofferdam.io/update-strategy': 'ok-to-upgrade' }

  it('updates all where Ceph has the command', async () => {
    await openWith(
      { ...strategy, 'cofferdam.io/update-ceph-version': '20.2.5-9-g1234abc' },
      smallCluster.replace('pgs: 16', 'pgs: 64'),
    )
    fixture.ceph.controls.tentacleOkToStop(true)
    await fixture.wantImage(newImage)
    expect(await fixture.until(isUpdated, 900)).toBe(true)
    expect(fixture.broken).toEqual([])
    expect(fixture.asked).toContain('osd ok-to-upgrade')
  })

  it('falls back to ok-to-stop where Ceph lacks the command, says so once, and updates all', async () => {
    await openWith({ ...strategy, 'cofferdam.io/update-ceph-version': '20.2.5-9-g1234abc' })
    await fixture.wantImage(newImage)
    expect(await fixture.until(isUpdated, 900)).toBe(true)
    expect((await fixture.told()).filter((told) => told === 'Warning ObjectsUnusable')).toHaveLength(1)
    expect(fixture.broken).toEqual([])
  })
})

describe('an ok-to-stop that is worth nothing', () => {
  it('is noticed before the first batch, counted and told, and our own reckoning alone keeps every floor', async () => {
    await openWith({ 'cofferdam.io/update-max-in-parallel': '100%' })
    fixture.ceph.controls.lieOkToStop('yes')
    await fixture.wantImage(newImage)
    expect(await fixture.until(isUpdated, 900)).toBe(true)
    await fixture.watch(60)
    expect(fixture.broken).toEqual([])
    expect(await fixture.told()).toEqual(['Normal OsdsUpdating', 'Warning ObjectsUnusable', 'Normal OsdsUpToDate'])
    expect(await disagreements()).toBe(1)
  })
})
