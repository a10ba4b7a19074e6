import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { deployments, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

let fixture: OsdUpdateFixture

afterEach(async () => {
  await fixture.close()
  expect(fixture.failures).toEqual([])
})

/** A calm operator that has seen everything. */
async function openCalm(
  change: (api: OsdUpdateFixture['api']) => OsdUpdateFixture['api'] = (api) => api,
): Promise<void> {
  fixture = await openOsdUpdateFixture()
  fixture.operate({ controllers: ['osd-update'], api: change(fixture.api) })
  await fixture.seconds(90)
}

const isUpdated = async () => {
  const images = await fixture.images()
  return images.length === 1 && images[0] === newImage
}

describe('a CephCluster that wants what its OSDs already are', () => {
  it('costs no question to Ceph and no write, however often something else about it changes (41, 58)', async () => {
    await openCalm()
    await fixture.patchCluster({ spec: { mon: { count: 5 } } })
    await fixture.seconds(120)
    await fixture.patchCluster({ metadata: { labels: { team: 'storage' } } })
    await fixture.seconds(120)
    expect([fixture.asked, fixture.written]).toEqual([[], []])
  })
})

describe('a CephCluster that wants another image', () => {
  it('has all its OSDs updated, and clients reach every placement group at every moment (59)', async () => {
    await openCalm()
    expect(await fixture.images()).toEqual([cephImage])
    await fixture.wantImage(newImage)
    expect(await fixture.until(isUpdated, 900)).toBe(true)
    await fixture.watch(120)
    expect(fixture.broken).toEqual([])
    expect(fixture.mostDown()).toBeGreaterThan(0)
    expect(await fixture.told()).toEqual(['Normal OsdsUpdating', 'Normal OsdsUpToDate'])
  })

  it('takes back what it wants before all are updated: those that were are brought back, and no other is touched', async () => {
    await openCalm()
    await fixture.wantImage(newImage)
    expect(await fixture.until(async () => (await fixture.images()).includes(newImage), 60)).toBe(true)
    await fixture.wantImage(cephImage)
    expect(await fixture.until(async () => (await fixture.images()).join() === cephImage, 600)).toBe(true)
    await fixture.watch(120)
    const touched = fixture.written.filter((write) => write.startsWith('update deployments/'))
    expect(new Set(touched).size).toBeLessThan(6)
    expect(fixture.broken).toEqual([])
    expect((await fixture.told()).at(-1)).toBe('Normal OsdsUpToDate')
  })

  it('in a dry run stays as it is, however long it is looked at', async () => {
    fixture = await openOsdUpdateFixture()
    fixture.operate({ controllers: ['osd-update'], dryRun: true })
    await fixture.wantImage(newImage)
    await fixture.seconds(60)
    const asked = fixture.asked.length
    await fixture.seconds(60)
    expect(await fixture.images()).toEqual([cephImage])
    expect(fixture.asked.length).toBeGreaterThan(asked)
  })

  it('is deleted in the middle: no further OSD is touched', async () => {
    await openCalm()
    await fixture.patchCluster({ metadata: { finalizers: ['cephcluster.ceph.rook.io'] } })
    await fixture.wantImage(newImage)
    expect(await fixture.until(async () => (await fixture.images()).includes(newImage), 60)).toBe(true)
    await fixture.deleteCluster()
    await fixture.watch(5)
    fixture.written.length = 0
    await fixture.watch(300)
    expect(fixture.written.filter((write) => write.startsWith('update deployments/'))).toEqual([])
    expect((await fixture.images()).length).toBe(2)
  })
})

describe('an OSD that does not come back', () => {
  /** Pods that run there stay, and new ones find no place. */
  const keepPodsOff = async (name: string, isOff = true) => {
    const taints = isOff ? [{ key: 'example.com/full', effect: 'NoSchedule' }] : null
    await fixture.api.patch(nodes, { name }, { type: 'merge', body: { spec: { taints } } })
  }

  const openFrozen = async () => {
    await openCalm()
    await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/update-deadline-seconds': '60' } } })
    await keepPodsOff('node-x')
    await fixture.wantImage(newImage)
    expect(await fixture.until(async () => (await fixture.told()).includes('Warning OsdUpdateFrozen'), 900)).toBe(true)
  }

  it('freezes the update: the others keep what they run, and nothing more is written (62)', async () => {
    await openFrozen()
    expect(await fixture.images()).toEqual([cephImage, newImage])
    const record = await fixture.updateRecord()
    expect(record).toMatchObject({ record: { frozen: { why: expect.stringContaining('its pod is not ready') } } })
    // It is on record when its noout is gone.
    await fixture.watch(20)
    fixture.written.length = 0
    await fixture.watch(300)
    expect(fixture.written).toEqual([])
    expect(fixture.broken).toEqual([])
  })

  it('thaws the update by coming back after all', async () => {
    await openFrozen()
    await keepPodsOff('node-x', false)
    expect(await fixture.until(isUpdated, 900)).toBe(true)
    await fixture.watch(60)
    expect((await fixture.told()).slice(-2)).toEqual(['Normal OsdsUpdating', 'Normal OsdsUpToDate'])
    expect(fixture.broken).toEqual([])
  })

  it('holds nobody up under another generation of the cluster: all are updated to that', async () => {
    await openFrozen()
    await keepPodsOff('node-x', false)
    const image = 'registry.example/ceph/ceph:v19.2.5'
    await fixture.wantImage(image)
    expect(await fixture.until(async () => (await fixture.images()).join() === image, 900)).toBe(true)
    await fixture.watch(60)
    expect(await fixture.updateRecord()).toMatchObject({
      record: { generation: await fixture.generation(), failed: [], frozen: undefined },
    })
    expect(fixture.broken).toEqual([])
  })
})

describe('what stands against an update', () => {
  it('a Deployment that the server does not take is recorded as failed, and all others are updated (50)', async () => {
    await openCalm((api) =>
      changedApi(api, {
        update: (type, object, options) =>
          type.plural === deployments.plural && object.metadata.name === 'rook-ceph-osd-1'
            ? Promise.reject(new ApiError('Invalid', 'spec.template: the policy says no'))
            : api.update(type, object, options),
      }),
    )
    await fixture.wantImage(newImage)
    expect(await fixture.until(async () => (await fixture.told()).includes('Warning OsdUpdateFailed'), 900)).toBe(true)
    const left = (await fixture.osds()).filter((osd) => JSON.stringify(osd.spec).includes(cephImage))
    expect(left.map(({ metadata }) => metadata.name)).toEqual(['rook-ceph-osd-1'])
    expect(await fixture.updateRecord()).toMatchObject({
      record: { failed: [{ osd: 1, why: 'the API server refused it: spec.template: the policy says no' }] },
    })
  })

  it("without Ceph's own word nothing is touched, and the update begins as soon as it is given", async () => {
    await openCalm()
    fixture.refused.add('osd ok-to-stop')
    await fixture.wantImage(newImage)
    await fixture.watch(120)
    expect(await fixture.images()).toEqual([cephImage])
    expect(await fixture.told()).toEqual(['Warning SafetyUnknown'])
    fixture.refused.clear()
    expect(await fixture.until(isUpdated, 900)).toBe(true)
    expect(fixture.broken).toEqual([])
  })

  it('Ceph itself says no where our reckoning says yes: nothing is touched until it says yes, and it is told once (46)', async () => {
    await openCalm()
    fixture.ceph.controls.lieOkToStop('no')
    await fixture.wantImage(newImage)
    await fixture.watch(120)
    expect(await fixture.images()).toEqual([cephImage])
    expect(await fixture.told()).toEqual(['Warning CephDisagrees'])
    fixture.ceph.controls.lieOkToStop(undefined)
    expect(await fixture.until(isUpdated, 900)).toBe(true)
    expect(fixture.broken).toEqual([])
  })

  it('a record that cannot be read is left as it is, and nothing starts until somebody deletes it', async () => {
    fixture = await openOsdUpdateFixture()
    await fixture.storeRecord({ record: '{"generation":' })
    fixture.operate({ controllers: ['osd-update'] })
    await fixture.seconds(30)
    await fixture.wantImage(newImage)
    await fixture.watch(120)
    expect([await fixture.images(), await fixture.told()]).toEqual([[cephImage], ['Warning UpdateRecordUnreadable']])
    expect(fixture.written.filter((write) => !write.startsWith('create events/'))).toEqual([])
    await fixture.deleteRecord()
    expect(await fixture.until(isUpdated, 900)).toBe(true)
  })
})
