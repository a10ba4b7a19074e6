import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { deployments, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { namespace } from '../../ceph-drain/testing/ceph-fixture.ts'
import { osdImage } from '../domain/osd-deployment.ts'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

let fixture: OsdUpdateFixture

afterEach(async () => {
  await fixture.close()
  expect(fixture.failures).toEqual([])
})

/** A calm operator that may update two at a time; `prepare` comes before it. */
async function open(
  given: { readonly change?: (api: KubeApi) => KubeApi; readonly prepare?: () => Promise<unknown> } = {},
): Promise<void> {
  fixture = await openOsdUpdateFixture()
  await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/update-max-in-parallel': '2' } } })
  await given.prepare?.()
  await fixture.seconds(10)
  fixture.operate({ controllers: ['osd-update'], api: given.change?.(fixture.api) ?? fixture.api })
  await fixture.seconds(20)
}

async function updated(): Promise<number[]> {
  const osds = (await fixture.osds()).filter((osd) => osdImage(osd) === newImage)
  return osds.map(({ metadata }) => Number(metadata.labels?.['ceph-osd-id'])).sort()
}

const until = (ids: readonly number[], seconds = 900) =>
  fixture.until(async () => (await updated()).join() === ids.join(), seconds)
const osdName = (id: number) => `rook-ceph-osd-${id}`
const patchOsd = (id: number, body: object) =>
  fixture.api.patch(deployments, { namespace, name: osdName(id) }, { type: 'merge', body } as Parameters<
    KubeApi['patch']
  >[2])
const label = (node: string, deviceClass: string) =>
  fixture.api.patch(nodes, { name: node }, {
    type: 'merge',
    body: { metadata: { labels: { 'osd.rook.io/device-class': deviceClass } } },
  } as Parameters<KubeApi['patch']>[2])
const all = [0, 1, 2, 3, 4, 5]

describe('what goes wrong with one OSD', () => {
  it('is recorded, tried no second time under the same generation, and keeps no other from its update (50)', async () => {
    const tries: string[] = []
    await open({
      change: (api) =>
        changedApi(api, {
          update(type, object, options) {
            const { name } = object.metadata
            if (type.plural !== deployments.plural || ![osdName(2), osdName(5)].includes(name)) {
              return api.update(type, object, options)
            }
            tries.push(name)
            return Promise.reject(new ApiError('Invalid', 'the policy says no'))
          },
        }),
    })
    await fixture.wantImage(newImage)
    expect(await fixture.until(async () => (await fixture.told()).includes('Warning OsdUpdateFailed'), 900)).toBe(true)
    await fixture.seconds(120)
    expect([await updated(), tries.sort()]).toEqual([
      [0, 1, 3, 4],
      [osdName(2), osdName(5)],
    ])
    const record = await fixture.updateRecord()
    expect('record' in record ? record.record.failed.map(({ osd }) => osd).sort() : record).toEqual([2, 5])
  })

  it('a Deployment whose container nobody finds is told of once, and the rest is updated (51)', async () => {
    await open({
      prepare: async () => {
        const [osd] = (await fixture.osds()).filter(({ metadata }) => metadata.name === osdName(3))
        const containers = osd?.spec.template.spec.containers.map((one) => ({ ...one, name: `my-${one.name}` }))
        await patchOsd(3, { spec: { template: { spec: { containers } } } })
      },
    })
    await fixture.wantImage(newImage)
    expect(await until([0, 1, 2, 4, 5])).toBe(true)
    await fixture.seconds(60)
    expect((await fixture.told()).filter((event) => event === 'Warning ObjectsUnusable')).toHaveLength(1)
  })

  it('a Deployment that vanishes as it is written is no failure: the others are updated, and it is not made again (61)', async () => {
    await open({
      change: (api) =>
        changedApi(api, {
          async update(type, object, options) {
            const { name } = object.metadata
            if (type.plural === deployments.plural && name === osdName(1)) {
              await fixture.ceph.commands.run({ prefix: 'osd out', ids: ['1'] })
              await api.delete(deployments, { namespace, name })
            }
            return api.update(type, object, options)
          },
        }),
    })
    await fixture.wantImage(newImage)
    expect(await until([0, 2, 3, 4, 5], 1_800)).toBe(true)
    await fixture.seconds(60)
    const record = await fixture.updateRecord()
    expect([(await fixture.osds()).length, 'record' in record && record.record.failed]).toEqual([5, []])
  })
})

describe('OSDs that are not ours to update', () => {
  it('of a node that is no longer in the storage spec keep what they run, and all others are updated (52)', async () => {
    await open()
    const storage = { useAllNodes: false, nodes: [{ name: 'node-x' }, { name: 'node-y' }] }
    await fixture.patchCluster({ spec: { storage, cephVersion: { image: newImage } } })
    expect(await until([0, 1, 2, 3])).toBe(true)
    await fixture.seconds(120)
    expect([await updated(), (await fixture.told()).at(-1)]).toEqual([[0, 1, 2, 3], 'Normal OsdsUpToDate'])
  })

  it('because somebody said so, replaces or migrates them stay as they are, and all others are updated (53)', async () => {
    await open({
      prepare: async () => {
        await patchOsd(0, { metadata: { labels: { 'ceph.rook.io/do-not-reconcile': 'true' } } })
        await patchOsd(1, { metadata: { annotations: { 'osd.rook.io/replace-in-progress': 'true' } } })
        await patchOsd(2, { metadata: { annotations: { 'ceph.rook.io/replace-osd': 'yes' } } })
        await patchOsd(3, { metadata: { labels: { 'osd-store': 'bluestore-old' } } })
        await fixture.patchCluster({ spec: { storage: { migration: { confirmation: 'yes-really-migrate-osds' } } } })
      },
    })
    await fixture.wantImage(newImage)
    expect(await until([4, 5])).toBe(true)
    await fixture.seconds(120)
    expect([await updated(), (await fixture.told()).at(-1)]).toEqual([[4, 5], 'Normal OsdsUpToDate'])
  })

  it('of a node of which two places name another device class wait until those agree; they are told of, and all others are updated (54)', async () => {
    await open({ prepare: () => label('node-x', 'fast') })
    const nodesOfSpec = [{ name: 'node-x', config: { deviceClass: 'hdd' } }, { name: 'node-y' }, { name: 'node-z' }]
    await fixture.patchCluster({ spec: { storage: { nodes: nodesOfSpec }, cephVersion: { image: newImage } } })
    expect(await until([2, 3, 4, 5])).toBe(true)
    await fixture.seconds(60)
    expect([await updated(), (await fixture.told()).includes('Warning ObjectsUnusable')]).toEqual([[2, 3, 4, 5], true])
    await label('node-x', 'hdd')
    expect(await until(all)).toBe(true)
  })
})
