import { afterEach, expect, it } from 'vitest'
import {
  newImage,
  type OsdUpdateStage,
  openOsdUpdateStage,
} from '../../capabilities/osd-update/testing/osd-update-stage.ts'

let stage: OsdUpdateStage
afterEach(() => stage.close())

/** What was asked of Ceph, and built of its answers, since the last count. */
function counter() {
  let indexes = 0
  return () => {
    const maps = stage.asked.splice(0).filter((prefix) => prefix === 'pg dump').length
    const built = stage.indexesBuilt() - indexes
    indexes = stage.indexesBuilt()
    return { maps, built }
  }
}

it('ceph-drain and osd-update share what Ceph said, and build one index of each map, over a drain and an update', async () => {
  stage = await openOsdUpdateStage()
  const count = counter()
  stage.operate({ controllers: ['ceph-drain', 'osd-update'] })
  await stage.seconds(90)
  expect(count()).toEqual({ maps: 1, built: 1 })

  await stage.cordon('node-x')
  expect(await stage.evictOsd(0)).toBe('going')
  await stage.seconds(30)
  expect(await stage.evictOsd(1)).toBe('going')
  await stage.seconds(60)
  await stage.cordon('node-x', false)
  await stage.seconds(60)
  const drain = count()
  expect(drain.built).toBeLessThanOrEqual(drain.maps)
  // With an index for the verdicts and another for their sets it was 24.
  expect(drain.built).toBeLessThanOrEqual(14)

  await stage.wantImage(newImage)
  expect(await stage.until(async () => (await stage.images()).join() === newImage, 600)).toBe(true)
  await stage.seconds(60)
  const update = count()
  // With a reader for each of the two it was 170, and 52 indexes.
  expect(update.maps).toBeLessThanOrEqual(120)
  expect(update.built).toBeLessThanOrEqual(30)
  expect(stage.broken).toEqual([])
})
