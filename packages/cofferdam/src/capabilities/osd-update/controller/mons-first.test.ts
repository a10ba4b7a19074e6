import { configMaps, deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { namespace } from '../../ceph-drain/testing/ceph-fixture.ts'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

let fixture: OsdUpdateFixture
afterEach(async () => {
  await fixture.close()
  expect(fixture.failures).toEqual([])
})

const monsFirst = (value: string) =>
  fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/update-mons-first': value } } })

async function openWaiting(): Promise<void> {
  fixture = await openOsdUpdateFixture()
  await monsFirst('true')
  fixture.operate({ controllers: ['osd-update'] })
  await fixture.seconds(60)
  await fixture.wantImage(newImage)
  await fixture.watch(120)
}

const isUpdated = async () => (await fixture.images()).join() === newImage

describe('another image', () => {
  it('starts no OSD while mons and mgrs run the old one, and names them: Ceph does not support newer OSDs than mons', async () => {
    await openWaiting()
    expect([await fixture.images(), await fixture.told()]).toEqual([[cephImage], ['Warning MonsNotUpdated']])
    const { metadata } = await fixture.api.get(configMaps, { namespace, name: 'cofferdam-osd-update-rook-ceph' })
    const said = Object.values(metadata.annotations ?? {}).join(' ')
    expect(said).toContain(`rook-ceph-mon-a runs ${cephImage}`)
  })

  it('reaches the OSDs when the last mon and mgr have it', async () => {
    await openWaiting()
    const { items } = await fixture.api.list(deployments, {
      namespace,
      labelSelector: 'app in (rook-ceph-mon,rook-ceph-mgr)',
    })
    for (const { metadata, spec } of items) {
      const containers = spec.template.spec.containers.map((one) => ({ ...one, image: newImage }))
      const body = { spec: { template: { spec: { containers } } } } as never
      await fixture.api.patch(deployments, { namespace, name: metadata.name }, { type: 'merge', body })
      await fixture.seconds(30)
    }
    expect([await fixture.until(isUpdated, 900), fixture.broken]).toEqual([true, []])
  })

  it('reaches the OSDs at once where the administrator says not to wait', async () => {
    await openWaiting()
    await monsFirst('false')
    expect(await fixture.until(isUpdated, 900)).toBe(true)
  })
})
