import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { deployments, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { expect, it } from 'vitest'
import { namespace, smallCluster } from '../../ceph-drain/testing/ceph-fixture.ts'
import { osdImage } from '../domain/osd-deployment.ts'
import { type OsdGrowthFixture, openOsdGrowthFixture } from '../testing/osd-growth-fixture.ts'
import { newImage } from '../testing/osd-update-fixture.ts'

const controllers = ['osd-growth', 'osd-update'] as const
const ids = (count: number) => Array.from({ length: count }, (_, id) => id)

async function images(fixture: OsdGrowthFixture): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const osd of await fixture.osds()) counts[osdImage(osd) ?? ''] = (counts[osdImage(osd) ?? ''] ?? 0) + 1
  return counts
}

it('fifteen OSDs are created and then updated; of eight more those that an interruption left are made by the next run, and all are updated (67)', async () => {
  const fixture = await openOsdGrowthFixture(smallCluster.replace('perNode: 2', 'perNode: 5'))
  // The disks are there, and nothing runs on them.
  for (const { metadata } of await fixture.osds()) {
    await fixture.api.delete(deployments, { namespace, name: metadata.name })
  }
  await fixture.seconds(30)
  expect(await fixture.up()).toEqual([])
  const first = fixture.operate({ controllers })
  await fixture.grow({})
  expect(await fixture.until(async () => (await fixture.up()).length === 15, 300)).toBe(true)
  expect([await fixture.ids(), await images(fixture)]).toEqual([ids(15), { [cephImage]: 15 }])
  await fixture.seconds(120)
  // Without any OSD no data was there.
  fixture.broken.length = 0

  await fixture.wantImage(newImage)
  expect(await fixture.until(async () => (await images(fixture))[newImage] === 15, 1_800)).toBe(true)
  await fixture.watch(120)
  expect([fixture.broken, await fixture.up()]).toEqual([[], ids(15)])
  const stopped = first.stop()
  await fixture.seconds(30)
  await stopped

  let created = 0
  const second = fixture.operate({
    controllers,
    api: changedApi(fixture.api, {
      create: async (type, object, options) => {
        if (type.plural === deployments.plural && created === 5) throw new Error('cut off')
        if (type.plural === deployments.plural) created += 1
        return fixture.api.create(type, object, options)
      },
    }),
  })
  await fixture.grow({ 'node-x': 'sdp,sdq,sdr', 'node-y': 'sdp,sdq,sdr', 'node-z': 'sdp,sdq' })
  await fixture.seconds(60)
  expect(await fixture.ids()).toHaveLength(20)
  const cut = second.stop()
  await fixture.seconds(30)
  await cut

  fixture.operate({ controllers })
  const newest = 'registry.example/ceph/ceph:v19.2.5'
  await fixture.wantImage(newest)
  expect(await fixture.until(async () => (await images(fixture))[newest] === 23, 2_400)).toBe(true)
  await fixture.watch(120)
  expect([await fixture.ids(), await fixture.up(), fixture.broken]).toEqual([ids(23), ids(23), []])
  await fixture.close()
})

it('an update that two OSDs fail goes on with all the others, and growth beside it (67)', async () => {
  const fixture = await openOsdGrowthFixture()
  fixture.operate({
    controllers,
    api: changedApi(fixture.api, {
      update: async (type, object, options) => {
        if (type.plural === deployments.plural && /-osd-[14]$/.test(object.metadata.name)) {
          throw new ApiError('Invalid', 'spec.template: the policy says no')
        }
        return fixture.api.update(type, object, options)
      },
    }),
  })
  await fixture.grow({ 'node-x': 'sdx' })
  await fixture.wantImage(newImage)
  expect(await fixture.until(async () => (await images(fixture))[newImage] === 5, 900)).toBe(true)
  expect([await fixture.ids(), await images(fixture)]).toEqual([ids(7), { [cephImage]: 2, [newImage]: 5 }])
  await fixture.close()
})

it('an update that is frozen holds up no new OSD', async () => {
  const fixture = await openOsdGrowthFixture()
  fixture.operate({ controllers })
  await fixture.grow({})
  await fixture.seconds(60)
  await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/update-deadline-seconds': '60' } } })
  // Pods that run there stay, and new ones find no place.
  const taints = [{ key: 'example.com/full', effect: 'NoSchedule' }]
  await fixture.api.patch(nodes, { name: 'node-x' }, { type: 'merge', body: { spec: { taints } } })
  await fixture.wantImage(newImage)
  expect(await fixture.until(async () => (await fixture.told()).includes('Warning OsdUpdateFrozen'), 900)).toBe(true)
  await fixture.grow({ 'node-y': 'sdy' })
  expect(await fixture.until(async () => (await fixture.up()).includes(6), 120)).toBe(true)
  expect((await fixture.updateRecord()) ?? {}).toMatchObject({
    record: { frozen: { osd: expect.any(Number) as number } },
  })
  await fixture.close()
})

it('an update for which Ceph does not answer holds up no new OSD', async () => {
  const fixture = await openOsdGrowthFixture()
  fixture.operate({ controllers })
  await fixture.grow({})
  await fixture.seconds(60)
  for (const prefix of ['osd ok-to-stop', 'pg dump', 'status']) fixture.refused.add(prefix)
  await fixture.wantImage(newImage)
  await fixture.seconds(120)
  expect(await images(fixture)).toEqual({ [cephImage]: 6 })
  await fixture.grow({ 'node-y': 'sdy' })
  expect(await fixture.until(async () => (await fixture.up()).includes(6), 120)).toBe(true)
  await fixture.close()
})
