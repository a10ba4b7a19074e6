import { afterEach, describe, expect, it } from 'vitest'
import { cephImage } from '../cli/demo/build-ceph-resources.ts'
import { newImage, type OsdUpdateStage, openOsdUpdateStage } from './testing/osd-update-stage.ts'

let stage: OsdUpdateStage

afterEach(async () => {
  await stage.close()
  expect(stage.failures).toEqual([])
})

/** A calm operator that has seen everything. */
async function openCalm(): Promise<void> {
  stage = await openOsdUpdateStage()
  stage.operate({ controllers: ['osd-update'] })
  await stage.seconds(90)
}

const isUpdated = async () => {
  const images = await stage.images()
  return images.length === 1 && images[0] === newImage
}

describe('a CephCluster that wants what its OSDs already are', () => {
  it('costs no question to Ceph and no write, however often something else about it changes', async () => {
    await openCalm()
    await stage.patchCluster({ spec: { mon: { count: 5 } } })
    await stage.seconds(120)
    await stage.patchCluster({ metadata: { labels: { team: 'storage' } } })
    await stage.seconds(120)
    expect([stage.asked, stage.written]).toEqual([[], []])
  })
})

describe('a CephCluster that wants another image', () => {
  it('has all its OSDs updated, and clients reach every placement group at every moment', async () => {
    await openCalm()
    expect(await stage.images()).toEqual([cephImage])
    await stage.wantImage(newImage)
    expect(await stage.until(isUpdated, 900)).toBe(true)
    await stage.watch(120)
    expect(stage.broken).toEqual([])
    expect(stage.mostDown()).toBeGreaterThan(0)
    expect(await stage.told()).toEqual(['Normal OsdsUpdating', 'Normal OsdsUpToDate'])
  })
})
