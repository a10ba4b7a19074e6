import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { namespace } from '../../ceph-drain/testing/ceph-stage.ts'
import { newImage, type OsdUpdateStage, openOsdUpdateStage } from '../testing/osd-update-stage.ts'

let stage: OsdUpdateStage

afterEach(async () => {
  await stage.close()
  expect(stage.failures).toEqual([])
})

async function open(): Promise<void> {
  stage = await openOsdUpdateStage()
  await stage.patchCluster({ metadata: { annotations: { 'cofferdam.io/update-max-in-parallel': '2' } } })
  stage.operate({ controllers: ['osd-update'] })
  await stage.seconds(60)
}

async function podsOfOsds(): Promise<readonly Pod[]> {
  const { items } = await stage.api.list(pods, { namespace, labelSelector: 'app=rook-ceph-osd' })
  return items
}

const names = async () => (await podsOfOsds()).map(({ metadata }) => metadata.name).sort()
const ask = (text: string | null) =>
  stage.patchCluster({ metadata: { annotations: { 'cofferdam.io/restart-osds': text } } })
const updates = () => stage.written.filter((write) => write.startsWith('update deployments/')).sort()
const allOnce = [0, 1, 2, 3, 4, 5].map((id) => `update deployments/rook-ceph-osd-${id}`)

/** Lets time pass until no OSD has a pod that it had before. */
async function untilRestarted(before: readonly string[]): Promise<boolean> {
  const isRestarted = async () => {
    const now = await names()
    return now.length === 6 && now.every((name) => !before.includes(name))
  }
  return stage.until(isRestarted, 900)
}

describe('a restart that is asked for where the Deployments are ours', () => {
  it('replaces every pod once, within the data, and neither time nor its withdrawal restarts anything again', async () => {
    await open()
    const before = await names()
    await ask(timestamp(stage.clock))
    expect(await untilRestarted(before)).toBe(true)
    await stage.seconds(60)
    const after = await names()
    stage.asked.length = 0
    await stage.seconds(120)
    await ask(null)
    await stage.seconds(120)
    expect([stage.asked, updates(), await names(), stage.broken, await stage.told()]).toEqual([
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
    await stage.patchCluster({
      metadata: { annotations: { 'cofferdam.io/restart-osds': timestamp(stage.clock) } },
      spec: { cephVersion: { image: newImage } },
    })
    expect(await untilRestarted(before)).toBe(true)
    await stage.seconds(120)
    expect([await stage.images(), updates(), stage.broken]).toEqual([[newImage], allOnce, []])
  })

  it('in the midst of another update leaves alone whom that has restarted already', async () => {
    await open()
    const before = await names()
    await stage.wantImage(newImage)
    expect(await stage.until(async () => (await stage.images()).includes(newImage), 60)).toBe(true)
    await ask(timestamp(stage.clock))
    expect(await untilRestarted(before)).toBe(true)
    await stage.seconds(120)
    expect([await stage.images(), updates().length <= 8, stage.broken]).toEqual([[newImage], true, []])
  })

  it('for a time that lies ahead waits for it, and says so', async () => {
    await open()
    const before = await names()
    await ask(new Date(stage.clock.now() + 300_000).toISOString())
    await stage.seconds(240)
    expect([updates(), await names(), await stage.told()]).toEqual([[], before, ['Warning ObjectsUnusable']])
    expect(await untilRestarted(before)).toBe(true)
    expect(stage.broken).toEqual([])
  })

  for (const text of ['tomorrow', '2026-13-40T00:00:00Z', '']) {
    it(`for ${JSON.stringify(text)}, which is no time, restarts nothing and says so`, async () => {
      await open()
      const before = await names()
      await ask(text)
      await stage.seconds(60)
      expect([updates(), await names(), await stage.told()]).toEqual([[], before, ['Warning ObjectsUnusable']])
    })
  }
})
