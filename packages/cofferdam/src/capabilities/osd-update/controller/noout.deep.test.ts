import { afterEach, describe, expect, it } from 'vitest'
import { smallCluster } from '../../ceph-drain/testing/ceph-fixture.ts'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

let fixture: OsdUpdateFixture
afterEach(async () => {
  await fixture.close()
  expect(fixture.failures).toEqual([])
})

const unhurried = smallCluster.replace('readyAfterSeconds: 1,', 'readyAfterSeconds: 10,')
const isUpdated = async () => (await fixture.images()).join() === newImage
const setByHand = (osd: number) =>
  fixture.ceph.commands.run({ prefix: 'osd set-group', flags: 'noout', who: [`osd.${osd}`] })

describe('noout in an update', () => {
  it('is on every OSD while it restarts and on none after it, but for the one that an administrator set', async () => {
    fixture = await openOsdUpdateFixture(unhurried)
    await setByHand(5)
    fixture.operate({ controllers: ['osd-update', 'ceph-drain'] })
    await fixture.seconds(60)
    await fixture.wantImage(newImage)
    const seen = new Set<number>()
    await fixture.until(async () => {
      for (const osd of await fixture.nooutOsds()) seen.add(osd)
      return isUpdated()
    }, 900)
    await fixture.watch(60)
    expect([[...seen].sort(), await fixture.nooutOsds(), await fixture.images()]).toEqual([
      [0, 1, 2, 3, 4, 5],
      [5],
      [newImage],
    ])
    expect((await fixture.updateRecord()) as object).not.toHaveProperty('record.noout')
  })

  it('goes with the freeze from an OSD that does not come back: Ceph may make its data whole elsewhere', async () => {
    fixture = await openOsdUpdateFixture(unhurried)
    fixture.operate({ controllers: ['osd-update'] })
    await fixture.seconds(60)
    await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/update-deadline-seconds': '120' } } })
    await fixture.wantImage(newImage)
    await fixture.until(async () => (await fixture.nooutOsds()).length > 0, 60)
    const [osd = -1] = await fixture.nooutOsds()
    fixture.ceph.controls.failDisk(osd)
    await fixture.watch(90)
    expect(await fixture.nooutOsds()).toEqual([osd])
    await fixture.watch(60)
    expect([await fixture.nooutOsds(), await fixture.told()]).toEqual([
      [],
      ['Normal OsdsUpdating', 'Warning OsdUpdateFrozen'],
    ])
  })

  it('is taken away where updates are switched off in the middle', async () => {
    fixture = await openOsdUpdateFixture(unhurried)
    fixture.operate({ controllers: ['osd-update'] })
    await fixture.seconds(60)
    await fixture.wantImage(newImage)
    await fixture.until(async () => (await fixture.nooutOsds()).length > 0, 60)
    await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/updates': 'off' } } })
    await fixture.watch(60)
    expect(await fixture.nooutOsds()).toEqual([])
  })
})
