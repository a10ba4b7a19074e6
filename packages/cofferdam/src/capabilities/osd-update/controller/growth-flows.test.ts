import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { deployments, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/story.ts'
import { expect, it } from 'vitest'
import { namespace, smallCluster } from '../../ceph-drain/testing/ceph-stage.ts'
import { osdImage } from '../domain/osd-deployment.ts'
import { type OsdGrowthStage, openOsdGrowthStage } from '../testing/osd-growth-stage.ts'
import { newImage } from '../testing/osd-update-stage.ts'

const controllers = ['osd-growth', 'osd-update'] as const
const ids = (count: number) => Array.from({ length: count }, (_, id) => id)

async function images(stage: OsdGrowthStage): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const osd of await stage.osds()) counts[osdImage(osd) ?? ''] = (counts[osdImage(osd) ?? ''] ?? 0) + 1
  return counts
}

it('fifteen OSDs are created and then updated; of eight more those that an interruption left are made by the next run, and all are updated (67)', async () => {
  const stage = await openOsdGrowthStage(smallCluster.replace('perNode: 2', 'perNode: 5'))
  // The disks are there, and nothing runs on them.
  for (const { metadata } of await stage.osds()) {
    await stage.api.delete(deployments, { namespace, name: metadata.name })
  }
  await stage.seconds(30)
  expect(await stage.up()).toEqual([])
  const first = stage.operate({ controllers })
  await stage.grow({})
  expect(await stage.until(async () => (await stage.up()).length === 15, 300)).toBe(true)
  expect([await stage.ids(), await images(stage)]).toEqual([ids(15), { [cephImage]: 15 }])
  await stage.seconds(120)
  // Without any OSD no data was there.
  stage.broken.length = 0

  await stage.wantImage(newImage)
  expect(await stage.until(async () => (await images(stage))[newImage] === 15, 1_800)).toBe(true)
  await stage.watch(120)
  expect([stage.broken, await stage.up()]).toEqual([[], ids(15)])
  const stopped = first.stop()
  await stage.seconds(30)
  await stopped

  let created = 0
  const second = stage.operate({
    controllers,
    api: changedApi(stage.api, {
      create: async (type, object, options) => {
        if (type.plural === deployments.plural && created === 5) throw new Error('cut off')
        if (type.plural === deployments.plural) created += 1
        return stage.api.create(type, object, options)
      },
    }),
  })
  await stage.grow({ 'node-x': 'sdp,sdq,sdr', 'node-y': 'sdp,sdq,sdr', 'node-z': 'sdp,sdq' })
  await stage.seconds(60)
  expect(await stage.ids()).toHaveLength(20)
  const cut = second.stop()
  await stage.seconds(30)
  await cut

  stage.operate({ controllers })
  const newest = 'registry.example/ceph/ceph:v19.2.5'
  await stage.wantImage(newest)
  expect(await stage.until(async () => (await images(stage))[newest] === 23, 2_400)).toBe(true)
  await stage.watch(120)
  expect([await stage.ids(), await stage.up(), stage.broken]).toEqual([ids(23), ids(23), []])
  await stage.close()
}, 240_000)

it('an update that two OSDs fail goes on with all the others, and growth beside it (67)', async () => {
  const stage = await openOsdGrowthStage()
  stage.operate({
    controllers,
    api: changedApi(stage.api, {
      update: async (type, object, options) => {
        if (type.plural === deployments.plural && /-osd-[14]$/.test(object.metadata.name)) {
          throw new ApiError('Invalid', 'spec.template: the policy says no')
        }
        return stage.api.update(type, object, options)
      },
    }),
  })
  await stage.grow({ 'node-x': 'sdx' })
  await stage.wantImage(newImage)
  expect(await stage.until(async () => (await images(stage))[newImage] === 5, 900)).toBe(true)
  expect([await stage.ids(), await images(stage)]).toEqual([ids(7), { [cephImage]: 2, [newImage]: 5 }])
  await stage.close()
}, 60_000)

it('an update that is frozen holds up no new OSD', async () => {
  const stage = await openOsdGrowthStage()
  stage.operate({ controllers })
  await stage.grow({})
  await stage.seconds(60)
  await stage.patchCluster({ metadata: { annotations: { 'cofferdam.io/update-deadline-seconds': '60' } } })
  // Pods that run there stay, and new ones find no place.
  const taints = [{ key: 'example.com/full', effect: 'NoSchedule' }]
  await stage.api.patch(nodes, { name: 'node-x' }, { type: 'merge', body: { spec: { taints } } })
  await stage.wantImage(newImage)
  expect(await stage.until(async () => (await stage.told()).includes('Warning OsdUpdateFrozen'), 900)).toBe(true)
  await stage.grow({ 'node-y': 'sdy' })
  expect(await stage.until(async () => (await stage.up()).includes(6), 120)).toBe(true)
  expect((await stage.updateRecord()) ?? {}).toMatchObject({
    record: { frozen: { osd: expect.any(Number) as number } },
  })
  await stage.close()
}, 60_000)

it('an update for which Ceph does not answer holds up no new OSD', async () => {
  const stage = await openOsdGrowthStage()
  stage.operate({ controllers })
  await stage.grow({})
  await stage.seconds(60)
  for (const prefix of ['osd ok-to-stop', 'pg dump', 'status']) stage.refused.add(prefix)
  await stage.wantImage(newImage)
  await stage.seconds(120)
  expect(await images(stage)).toEqual({ [cephImage]: 6 })
  await stage.grow({ 'node-y': 'sdy' })
  expect(await stage.until(async () => (await stage.up()).includes(6), 120)).toBe(true)
  await stage.close()
}, 60_000)
