import { deployments, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { deployment } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { besideRook, namespace, smallCluster } from '../../ceph-drain/testing/ceph-fixture.ts'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

/** Pods that take their time, so that Ceph sees every restart. */
const unhurried = smallCluster.replace('readyAfterSeconds: 1,', 'readyAfterSeconds: 10,')

let fixture: OsdUpdateFixture

afterEach(() => fixture.close())

async function openBesideRook(): Promise<void> {
  fixture = await openOsdUpdateFixture(unhurried)
  const rook = deployment('rook-ceph-operator', { replicas: 1 })
  await fixture.api.create(deployments, {
    ...rook,
    metadata: { ...rook.metadata, labels: { operator: 'rook', 'storage-backend': 'ceph' } },
  })
  fixture.operate({ controllers: ['osd-update'], trust: besideRook })
  await fixture.seconds(60)
}

async function podsOfOsds(): Promise<string[]> {
  const { items } = await fixture.api.list(pods, { namespace, labelSelector: 'app=rook-ceph-osd' })
  return items.map(({ metadata }) => metadata.name).sort()
}

const ask = (text: string) => fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/restart-osds': text } } })

describe("beside Rook's own operator", () => {
  it('another image is for Rook to roll out: Ceph is not asked and nothing is written', async () => {
    await openBesideRook()
    await fixture.wantImage(newImage)
    await fixture.seconds(300)
    expect([fixture.asked, fixture.written]).toEqual([[], []])
  })

  it('a restart that is asked for replaces every pod once, within the data, and writes no Deployment', async () => {
    await openBesideRook()
    const before = await podsOfOsds()
    await ask(timestamp(fixture.clock))
    const isRestarted = async () => (await podsOfOsds()).every((name) => !before.includes(name))
    expect(await fixture.until(isRestarted, 900)).toBe(true)
    await fixture.watch(60)
    const after = await podsOfOsds()
    expect(after).toHaveLength(6)
    expect(await fixture.told()).toEqual(['Normal OsdsUpdating', 'Normal OsdsUpToDate'])
    expect(fixture.written.filter((write) => write.includes('deployments/'))).toEqual([])
    expect(fixture.broken).toEqual([])
    fixture.asked.length = 0
    fixture.written.length = 0
    await fixture.watch(300)
    expect([fixture.asked, fixture.written, await podsOfOsds()]).toEqual([[], [], after])
  })

  it('a time that is none restarts nothing, and says so', async () => {
    await openBesideRook()
    const before = await podsOfOsds()
    await ask('tomorrow')
    await fixture.watch(120)
    expect(await podsOfOsds()).toEqual(before)
    expect(await fixture.told()).toEqual(['Warning ObjectsUnusable'])
  })
})
