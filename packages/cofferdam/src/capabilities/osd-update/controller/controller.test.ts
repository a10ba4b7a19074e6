import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { deployments, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/story.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { newImage, type OsdUpdateStage, openOsdUpdateStage } from '../testing/osd-update-stage.ts'

let stage: OsdUpdateStage

afterEach(async () => {
  await stage.close()
  expect(stage.failures).toEqual([])
})

/** A calm operator that has seen everything. */
async function openCalm(change: (api: OsdUpdateStage['api']) => OsdUpdateStage['api'] = (api) => api): Promise<void> {
  stage = await openOsdUpdateStage()
  stage.operate({ controllers: ['osd-update'], api: change(stage.api) })
  await stage.seconds(90)
}

const isUpdated = async () => {
  const images = await stage.images()
  return images.length === 1 && images[0] === newImage
}

describe('a CephCluster that wants what its OSDs already are', () => {
  it('costs no question to Ceph and no write, however often something else about it changes (41, 58)', async () => {
    await openCalm()
    await stage.patchCluster({ spec: { mon: { count: 5 } } })
    await stage.seconds(120)
    await stage.patchCluster({ metadata: { labels: { team: 'storage' } } })
    await stage.seconds(120)
    expect([stage.asked, stage.written]).toEqual([[], []])
  })
})

describe('a CephCluster that wants another image', () => {
  it('has all its OSDs updated, and clients reach every placement group at every moment (59)', async () => {
    await openCalm()
    expect(await stage.images()).toEqual([cephImage])
    await stage.wantImage(newImage)
    expect(await stage.until(isUpdated, 900)).toBe(true)
    await stage.watch(120)
    expect(stage.broken).toEqual([])
    expect(stage.mostDown()).toBeGreaterThan(0)
    expect(await stage.told()).toEqual(['Normal OsdsUpdating', 'Normal OsdsUpToDate'])
  })

  it('takes back what it wants before all are updated: those that were are brought back, and no other is touched', async () => {
    await openCalm()
    await stage.wantImage(newImage)
    expect(await stage.until(async () => (await stage.images()).includes(newImage), 60)).toBe(true)
    await stage.wantImage(cephImage)
    expect(await stage.until(async () => (await stage.images()).join() === cephImage, 600)).toBe(true)
    await stage.watch(120)
    const touched = stage.written.filter((write) => write.startsWith('update deployments/'))
    expect(new Set(touched).size).toBeLessThan(6)
    expect(stage.broken).toEqual([])
    expect((await stage.told()).at(-1)).toBe('Normal OsdsUpToDate')
  })

  it('in a dry run stays as it is, however long it is looked at', async () => {
    stage = await openOsdUpdateStage()
    stage.operate({ controllers: ['osd-update'], dryRun: true })
    await stage.wantImage(newImage)
    await stage.seconds(60)
    const asked = stage.asked.length
    await stage.seconds(60)
    expect(await stage.images()).toEqual([cephImage])
    expect(stage.asked.length).toBeGreaterThan(asked)
  })

  it('is deleted in the middle: no further OSD is touched', async () => {
    await openCalm()
    await stage.patchCluster({ metadata: { finalizers: ['cephcluster.ceph.rook.io'] } })
    await stage.wantImage(newImage)
    expect(await stage.until(async () => (await stage.images()).includes(newImage), 60)).toBe(true)
    await stage.deleteCluster()
    await stage.watch(5)
    stage.written.length = 0
    await stage.watch(300)
    expect(stage.written.filter((write) => write.startsWith('update deployments/'))).toEqual([])
    expect((await stage.images()).length).toBe(2)
  })
})

describe('an OSD that does not come back', () => {
  /** Pods that run there stay, and new ones find no place. */
  const keepPodsOff = async (name: string, isOff = true) => {
    const taints = isOff ? [{ key: 'example.com/full', effect: 'NoSchedule' }] : null
    await stage.api.patch(nodes, { name }, { type: 'merge', body: { spec: { taints } } })
  }

  const openFrozen = async () => {
    await openCalm()
    await stage.patchCluster({ metadata: { annotations: { 'cofferdam.io/update-deadline-seconds': '60' } } })
    await keepPodsOff('node-x')
    await stage.wantImage(newImage)
    expect(await stage.until(async () => (await stage.told()).includes('Warning OsdUpdateFrozen'), 900)).toBe(true)
  }

  it('freezes the update: the others keep what they run, and nothing more is written (62)', async () => {
    await openFrozen()
    expect(await stage.images()).toEqual([cephImage, newImage])
    const record = await stage.updateRecord()
    expect(record).toMatchObject({ record: { frozen: { why: expect.stringContaining('its pod is not ready') } } })
    stage.written.length = 0
    await stage.watch(300)
    expect(stage.written).toEqual([])
    expect(stage.broken).toEqual([])
  })

  it('thaws the update by coming back after all', async () => {
    await openFrozen()
    await keepPodsOff('node-x', false)
    expect(await stage.until(isUpdated, 900)).toBe(true)
    await stage.watch(60)
    expect((await stage.told()).slice(-2)).toEqual(['Normal OsdsUpdating', 'Normal OsdsUpToDate'])
    expect(stage.broken).toEqual([])
  })

  it('holds nobody up under another generation of the cluster: all are updated to that', async () => {
    await openFrozen()
    await keepPodsOff('node-x', false)
    const image = 'registry.example/ceph/ceph:v19.2.5'
    await stage.wantImage(image)
    expect(await stage.until(async () => (await stage.images()).join() === image, 900)).toBe(true)
    await stage.watch(60)
    expect(await stage.updateRecord()).toMatchObject({
      record: { generation: await stage.generation(), failed: [], frozen: undefined },
    })
    expect(stage.broken).toEqual([])
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
    await stage.wantImage(newImage)
    expect(await stage.until(async () => (await stage.told()).includes('Warning OsdUpdateFailed'), 900)).toBe(true)
    const left = (await stage.osds()).filter((osd) => JSON.stringify(osd.spec).includes(cephImage))
    expect(left.map(({ metadata }) => metadata.name)).toEqual(['rook-ceph-osd-1'])
    expect(await stage.updateRecord()).toMatchObject({
      record: { failed: [{ osd: 1, why: 'the API server refused it: spec.template: the policy says no' }] },
    })
  })

  it("without Ceph's own word nothing is touched, and the update begins as soon as it is given", async () => {
    await openCalm()
    stage.refused.add('osd ok-to-stop')
    await stage.wantImage(newImage)
    await stage.watch(120)
    expect(await stage.images()).toEqual([cephImage])
    expect(await stage.told()).toEqual(['Warning SafetyUnknown'])
    stage.refused.clear()
    expect(await stage.until(isUpdated, 900)).toBe(true)
    expect(stage.broken).toEqual([])
  })

  it('Ceph itself says no where our reckoning says yes: nothing is touched until it says yes, and it is told once (46)', async () => {
    await openCalm()
    stage.ceph.controls.lieOkToStop('no')
    await stage.wantImage(newImage)
    await stage.watch(120)
    expect(await stage.images()).toEqual([cephImage])
    expect(await stage.told()).toEqual(['Warning CephDisagrees'])
    stage.ceph.controls.lieOkToStop(undefined)
    expect(await stage.until(isUpdated, 900)).toBe(true)
    expect(stage.broken).toEqual([])
  })

  it('a record that cannot be read is left as it is, and nothing starts until somebody deletes it', async () => {
    stage = await openOsdUpdateStage()
    await stage.storeRecord({ record: '{"generation":' })
    stage.operate({ controllers: ['osd-update'] })
    await stage.seconds(30)
    await stage.wantImage(newImage)
    await stage.watch(120)
    expect([await stage.images(), await stage.told()]).toEqual([[cephImage], ['Warning UpdateRecordUnreadable']])
    expect(stage.written.filter((write) => !write.startsWith('create events/'))).toEqual([])
    await stage.deleteRecord()
    expect(await stage.until(isUpdated, 900)).toBe(true)
  })
})
