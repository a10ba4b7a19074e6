import { afterEach, expect, it } from 'vitest'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

let fixture: OsdUpdateFixture

afterEach(async () => {
  await fixture.close()
  expect(fixture.failures).toEqual([])
})

const isUpdated = async () => (await fixture.images()).join() === newImage

async function figures(): Promise<string[]> {
  const text = await fixture.metrics.registry.metrics()
  return text.split('\n').filter((line) => line.startsWith('cofferdam_osd_update_'))
}

const of = (name: string, labels = '') =>
  `cofferdam_osd_update_${name}{ceph_namespace="rook-ceph",ceph_cluster="rook-ceph"${labels}}`

it('an update is seen in the figures while it lasts, and they go with the cluster but for what was counted', async () => {
  fixture = await openOsdUpdateFixture()
  fixture.operate({ controllers: ['osd-update'] })
  await fixture.seconds(90)
  await fixture.wantImage(newImage)
  expect(await fixture.until(async () => (await figures()).includes(`${of('osds', ',state="running"')} 1`), 60)).toBe(
    true,
  )
  expect(await fixture.until(isUpdated, 900)).toBe(true)
  await fixture.seconds(120)
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
      `${of('remaining_seconds')} 0`,
      `${of('frozen')} 0`,
      `${of('checks_off')} 0`,
      counted,
    ].sort(),
  )
  await fixture.deleteCluster()
  await fixture.seconds(60)
  expect(await figures()).toEqual([counted])
})

it('an operator that takes over in the middle tells neither of the beginning again nor misses the end', async () => {
  fixture = await openOsdUpdateFixture()
  const first = fixture.operate({ controllers: ['osd-update'] })
  await fixture.seconds(90)
  await fixture.wantImage(newImage)
  expect(await fixture.until(async () => (await fixture.images()).includes(newImage), 60)).toBe(true)
  const stopped = first.stop()
  await fixture.seconds(30)
  await stopped
  fixture.operate({ controllers: ['osd-update'] })
  expect(await fixture.until(isUpdated, 900)).toBe(true)
  await fixture.seconds(120)
  expect(await fixture.told()).toEqual(['Normal OsdsUpdating', 'Normal OsdsUpToDate'])
})
