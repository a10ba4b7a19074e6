import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { zonedCluster } from '../../ceph-drain/testing/ceph-fixture.ts'
import { osdImage } from '../domain/osd-deployment.ts'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

/** Few placement groups over many OSDs: most of them have nothing to do with each other. */
const sparse = zonedCluster({
  nodesPerZone: 2,
  osdsPerNode: 2,
  pgs: 8,
  pace: { readyAfterSeconds: 10, terminationSeconds: 2 },
})

let fixture: OsdUpdateFixture
afterEach(() => fixture.close())

const isNew = (osd: Deployment) => osdImage(osd) === newImage
const countNew = async () => (await fixture.osds()).filter(isNew).length

/** Pods that run there stay, and new ones find no place: who is stopped there takes its time to come back. */
async function makeSlow(name: string, isSlow = true): Promise<void> {
  const taints = isSlow ? [{ key: 'example.com/full', effect: 'NoSchedule' }] : null
  await fixture.api.patch(nodes, { name }, { type: 'merge', body: { spec: { taints } } })
}

/** An update, four at a time, in which whoever is stopped on node-x-1 does not come back for now. */
async function openSlow(pace: 'rolling' | 'barrier'): Promise<void> {
  fixture = await openOsdUpdateFixture(sparse)
  fixture.operate({ controllers: ['osd-update'] })
  await fixture.patchCluster({
    metadata: { annotations: { 'cofferdam.io/update-pace': pace } },
    spec: { updatePolicy: { osds: { maxInParallelPerCluster: 4 } } },
  })
  await makeSlow('node-x-1')
  await fixture.seconds(30)
  await fixture.wantImage(newImage)
  await fixture.seconds(120)
}

describe('an OSD that takes its time to come back', () => {
  it('without barrier holds back nobody but those that share data with it: the others go on beside it', async () => {
    await openSlow('rolling')
    const slow = await running()
    expect(slow).not.toEqual([])
    expect(await countNew()).toBeGreaterThan(4)
    await makeSlow('node-x-1', false)
    expect(await fixture.until(async () => (await countNew()) === 12, 600)).toBe(true)
    expect(fixture.broken).toEqual([])
  })

  it('with barrier holds back all: the round is not over before it is back', async () => {
    await openSlow('barrier')
    const slow = await running()
    expect(slow).not.toEqual([])
    expect(await countNew()).toBeLessThanOrEqual(4)
    await makeSlow('node-x-1', false)
    expect(await fixture.until(async () => (await countNew()) === 12, 600)).toBe(true)
    expect(fixture.broken).toEqual([])
  })
})

async function running(): Promise<readonly number[]> {
  const progress = JSON.parse((await fixture.recordData())['progress'] ?? '{}') as { readonly running?: number[] }
  return progress.running ?? []
}
