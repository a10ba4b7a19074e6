import { afterEach, expect, it } from 'vitest'
import {
  newImage,
  type OsdUpdateFixture,
  openOsdUpdateFixture,
} from '../../capabilities/osd-update/testing/osd-update-fixture.ts'

let fixture: OsdUpdateFixture
afterEach(() => fixture.close())

/** What was asked of Ceph, and built of its answers, since the last count. */
function counter() {
  let indexes = 0
  return () => {
    const maps = fixture.asked.splice(0).filter((prefix) => prefix === 'pg dump').length
    const built = fixture.indexesBuilt() - indexes
    indexes = fixture.indexesBuilt()
    return { maps, built }
  }
}

it('ceph-drain and osd-update share what Ceph said, and build one index of each map, over a drain and an update', async () => {
  fixture = await openOsdUpdateFixture()
  const count = counter()
  fixture.operate({ controllers: ['ceph-drain', 'osd-update'] })
  await fixture.seconds(90)
  expect(count()).toEqual({ maps: 1, built: 1 })

  await fixture.cordon('node-x')
  expect(await fixture.evictOsd(0)).toBe('going')
  await fixture.seconds(30)
  expect(await fixture.evictOsd(1)).toBe('going')
  await fixture.seconds(60)
  await fixture.cordon('node-x', false)
  await fixture.seconds(60)
  const drain = count()
  expect(drain.built).toBeLessThanOrEqual(drain.maps)
  // With an index for the verdicts and another for their sets it was 24. OSDs that were restarted report at moments of their own.
  expect(drain.built).toBeLessThanOrEqual(15)

  await fixture.wantImage(newImage)
  expect(await fixture.until(async () => (await fixture.images()).join() === newImage, 600)).toBe(true)
  await fixture.seconds(60)
  const update = count()
  // With a reader for each of the two it was 170, and 52 indexes.
  expect(update.maps).toBeLessThanOrEqual(140)
  // Each noout of the update, each OSD that Ceph logs, and each moment at which some have reported, is a map of its own.
  expect(update.built).toBeLessThanOrEqual(45)
  expect(fixture.broken).toEqual([])
})
