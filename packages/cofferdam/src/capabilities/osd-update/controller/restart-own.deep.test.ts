import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { namespace } from '../../ceph-drain/testing/ceph-fixture.ts'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

let fixture: OsdUpdateFixture

afterEach(async () => {
  await fixture.close()
  expect(fixture.failures).toEqual([])
})

async function open(): Promise<void> {
  fixture = await openOsdUpdateFixture()
  await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/update-max-in-parallel': '2' } } })
  fixture.operate({ controllers: ['osd-update'] })
  await fixture.seconds(60)
}

async function podsOfOsds(): Promise<readonly Pod[]> {
  const { items } = await fixture.api.list(pods, { namespace, labelSelector: 'app=rook-ceph-osd' })
  return items
}

const names = async () => (await podsOfOsds()).map(({ metadata }) => metadata.name).sort()
const ask = (text: string | null) =>
  fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/restart-osds': text } } })
const updates = () => fixture.written.filter((write) => write.startsWith('update deployments/')).sort()
const allOnce = [0, 1, 2, 3, 4, 5].map((id) => `update deployments/rook-ceph-osd-${id}`)

/** Lets time pass until no OSD has a pod that it had before. */
async function untilRestarted(before: readonly string[]): Promise<boolean> {
  const isRestarted = async () => {
    const now = await names()
    return now.length === 6 && now.every((name) => !before.includes(name))
  }
  return fixture.until(isRestarted, 900)
}

describe('a restart that is asked for where the Deployments are ours', () => {
  it('replaces every pod once, within the data, and neither time nor its withdrawal restarts anything again', async () => {
    await open()
    const before = await names()
    await ask(timestamp(fixture.clock))
    expect(await untilRestarted(before)).toBe(true)
    await fixture.seconds(60)
    const after = await names()
    fixture.asked.length = 0
    await fixture.seconds(120)
    await ask(null)
    await fixture.seconds(120)
    expect([fixture.asked, updates(), await names(), fixture.broken, await fixture.told()]).toEqual([
      [],
      allOnce,
      after,
      [],
      ['Normal OsdsUpdating', 'Normal OsdsUpToDate'],
    ])
  })

  it('together with another image restarts each OSD once, not twice', async () => {
    await open()
    const before = await names()
    await fixture.patchCluster({
      metadata: { annotations: { 'cofferdam.io/restart-osds': timestamp(fixture.clock) } },
      spec: { cephVersion: { image: newImage } },
    })
    expect(await untilRestarted(before)).toBe(true)
    await fixture.seconds(120)
    expect([await fixture.images(), updates(), fixture.broken]).toEqual([[newImage], allOnce, []])
  })

  it('in the midst of another update leaves alone whom that has restarted already', async () => {
    await open()
    const before = await names()
    await fixture.wantImage(newImage)
    expect(await fixture.until(async () => (await fixture.images()).includes(newImage), 60)).toBe(true)
    await ask(timestamp(fixture.clock))
    expect(await untilRestarted(before)).toBe(true)
    await fixture.seconds(120)
    expect([await fixture.images(), updates().length <= 8, fixture.broken]).toEqual([[newImage], true, []])
  })

  it('for a time that lies ahead waits for it, and says so', async () => {
    await open()
    const before = await names()
    await ask(new Date(fixture.clock.now() + 300_000).toISOString())
    await fixture.seconds(240)
    expect([updates(), await names(), await fixture.told()]).toEqual([[], before, ['Warning ObjectsUnusable']])
    expect(await untilRestarted(before)).toBe(true)
    expect(fixture.broken).toEqual([])
  })

  for (const text of ['tomorrow', '2026-13-40T00:00:00Z', '']) {
    it(`for ${JSON.stringify(text)}, which is no time, restarts nothing and says so`, async () => {
      await open()
      const before = await names()
      await ask(text)
      await fixture.seconds(60)
      expect([updates(), await names(), await fixture.told()]).toEqual([[], before, ['Warning ObjectsUnusable']])
    })
  }
})
