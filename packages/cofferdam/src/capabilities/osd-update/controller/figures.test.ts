import { afterEach, expect, it } from 'vitest'
import { newImage, type OsdUpdateStage, openOsdUpdateStage } from '../testing/osd-update-stage.ts'

let stage: OsdUpdateStage

afterEach(async () => {
  await stage.close()
  expect(stage.failures).toEqual([])
})

const isUpdated = async () => (await stage.images()).join() === newImage

async function figures(): Promise<string[]> {
  const text = await stage.metrics.registry.metrics()
  return text.split('\n').filter((line) => line.startsWith('cofferdam_osd_update_'))
}

const of = (name: string, labels = '') => `cofferdam_osd_update_${name}{cluster="rook-ceph/rook-ceph"${labels}}`

it('an update is seen in the figures while it lasts, and they go with the cluster but for what was counted', async () => {
  stage = await openOsdUpdateStage()
  stage.operate({ controllers: ['osd-update'] })
  await stage.seconds(90)
  await stage.wantImage(newImage)
  expect(await stage.until(async () => (await figures()).includes(`${of('osds', ',state="running"')} 1`), 60)).toBe(
    true,
  )
  expect(await stage.until(isUpdated, 900)).toBe(true)
  await stage.seconds(120)
  const counted = `${of('updated_total')} 6`
  expect((await figures()).sort()).toEqual(
    [
      `${of('osds', ',state="done"')} 6`,
      `${of('osds', ',state="running"')} 0`,
      `${of('osds', ',state="waiting"')} 0`,
      `${of('osds', ',state="blocked"')} 0`,
      `${of('osds', ',state="failed"')} 0`,
      `${of('rounds_left')} 0`,
      `${of('rounds_lower_bound')} 0`,
      `${of('left_seconds')} 0`,
      `${of('frozen_bool')} 0`,
      counted,
    ].sort(),
  )
  await stage.deleteCluster()
  await stage.seconds(60)
  expect(await figures()).toEqual([counted])
})

it('an operator that takes over in the middle tells neither of the beginning again nor misses the end', async () => {
  stage = await openOsdUpdateStage()
  const first = stage.operate({ controllers: ['osd-update'] })
  await stage.seconds(90)
  await stage.wantImage(newImage)
  expect(await stage.until(async () => (await stage.images()).includes(newImage), 60)).toBe(true)
  const stopped = first.stop()
  await stage.seconds(30)
  await stopped
  stage.operate({ controllers: ['osd-update'] })
  expect(await stage.until(isUpdated, 900)).toBe(true)
  await stage.seconds(120)
  expect(await stage.told()).toEqual(['Normal OsdsUpdating', 'Normal OsdsUpToDate'])
})
