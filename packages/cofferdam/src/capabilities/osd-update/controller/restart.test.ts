import { deployments, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { deployment } from '@cofferdam/simulator/world/testing/story.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { besideRook, namespace, smallCluster } from '../../ceph-drain/testing/ceph-stage.ts'
import { newImage, type OsdUpdateStage, openOsdUpdateStage } from '../testing/osd-update-stage.ts'

/** Pods that take their time, so that Ceph sees every restart. */
const unhurried = smallCluster.replace('readyAfterSeconds: 1,', 'readyAfterSeconds: 10,')

let stage: OsdUpdateStage

afterEach(() => stage.close())

async function openBesideRook(): Promise<void> {
  stage = await openOsdUpdateStage(unhurried)
  const rook = deployment('rook-ceph-operator', { replicas: 1 })
  await stage.api.create(deployments, {
    ...rook,
    metadata: { ...rook.metadata, labels: { operator: 'rook', 'storage-backend': 'ceph' } },
  })
  stage.operate({ controllers: ['osd-update'], trust: besideRook })
  await stage.seconds(60)
}

async function podsOfOsds(): Promise<string[]> {
  const { items } = await stage.api.list(pods, { namespace, labelSelector: 'app=rook-ceph-osd' })
  return items.map(({ metadata }) => metadata.name).sort()
}

const ask = (text: string) => stage.patchCluster({ metadata: { annotations: { 'cofferdam.io/restart-osds': text } } })

describe("beside Rook's own operator", () => {
  it('another image is for Rook to roll out: Ceph is not asked and nothing is written', async () => {
    await openBesideRook()
    await stage.wantImage(newImage)
    await stage.seconds(300)
    expect([stage.asked, stage.written]).toEqual([[], []])
  })

  it('a restart that is asked for replaces every pod once, within the data, and writes no Deployment', async () => {
    await openBesideRook()
    const before = await podsOfOsds()
    await ask(timestamp(stage.clock))
    const isRestarted = async () => (await podsOfOsds()).every((name) => !before.includes(name))
    expect(await stage.until(isRestarted, 900)).toBe(true)
    await stage.watch(60)
    const after = await podsOfOsds()
    expect(after).toHaveLength(6)
    expect(await stage.told()).toEqual(['Normal OsdsUpdating', 'Normal OsdsUpToDate'])
    expect(stage.written.filter((write) => write.includes('deployments/'))).toEqual([])
    expect(stage.broken).toEqual([])
    stage.asked.length = 0
    stage.written.length = 0
    await stage.watch(300)
    expect([stage.asked, stage.written, await podsOfOsds()]).toEqual([[], [], after])
  })

  it('a time that is none restarts nothing, and says so', async () => {
    await openBesideRook()
    const before = await podsOfOsds()
    await ask('tomorrow')
    await stage.watch(120)
    expect(await podsOfOsds()).toEqual(before)
    expect(await stage.told()).toEqual(['Warning ObjectsUnusable'])
  })
})
