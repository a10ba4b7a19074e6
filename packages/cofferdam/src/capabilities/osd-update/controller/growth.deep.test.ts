import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { configMaps, deployments, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumeClaims } from '@cofferdam/kubernetes/api/storage.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { changedApi, deployment } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { alone, namespace } from '../../ceph-drain/testing/ceph-fixture.ts'
import { type OsdGrowthFixture, openOsdGrowthFixture, rookImage } from '../testing/osd-growth-fixture.ts'
import { newImage } from '../testing/osd-update-fixture.ts'

let fixture: OsdGrowthFixture
beforeEach(async () => {
  fixture = await openOsdGrowthFixture()
})
afterEach(async () => {
  await fixture.close()
  expect(fixture.failures).toEqual([])
})

const operate = (api?: KubeApi) => fixture.operate({ controllers: ['osd-growth'], ...(api !== undefined && { api }) })
const idle = ['node-x: completed, used', 'node-y: completed, used', 'node-z: completed, used']

/** Answers to new objects that are not the server's own. */
function refusing(refuse: (name: string) => ApiError | undefined): KubeApi {
  const { api } = fixture
  return changedApi(api, {
    create: async (type, object, options) => {
      const error = refuse(`${type.plural}/${object.metadata.name}`)
      if (error !== undefined) throw error
      return api.create(type, object, options)
    },
  })
}

describe('growth', () => {
  it('makes an OSD of a disk that is put into a node, up and with data on it, and leaves no Job behind', async () => {
    operate()
    await fixture.grow({ 'node-x': 'sdz' })
    expect(await fixture.until(async () => (await fixture.up()).length === 7, 120)).toBe(true)
    await fixture.watch(60)
    expect([await fixture.ids(), await fixture.jobs(), await fixture.statuses()]).toEqual([
      [0, 1, 2, 3, 4, 5, 6],
      [],
      idle,
    ])
    expect(await fixture.groupsOn(6)).toBeGreaterThan(0)
    expect(await fixture.told()).toEqual(['Normal OsdPrepareStarted', 'Normal OsdAdded'])
    expect(await fixture.notes('OsdAdded')).toEqual(['added osd.6 on node-x'])
  })

  it('does nothing unless the administrator has it switched on, whatever image the cluster names: that would be run as root', async () => {
    fixture.operate({ controllers: ['osd-growth'], trust: alone })
    await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/rook-image': 'registry.example/evil:1' } } })
    await fixture.seconds(60)
    expect([fixture.written, await fixture.told(), await fixture.jobs()]).toEqual([[], [], []])
  })

  it('takes the image from the administrator alone, and is told when it goes off, as when a Rook comes', async () => {
    await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/rook-image': 'registry.example/evil:1' } } })
    operate()
    await fixture.seconds(1)
    const images = (await fixture.jobs()).map(({ spec }) => spec.template.spec.initContainers?.[0]?.image)
    expect(images).toEqual([rookImage, rookImage, rookImage])
    await fixture.seconds(30)
    const rook = deployment('rook-ceph-operator', { replicas: 1 })
    const labels = { operator: 'rook', 'storage-backend': 'ceph' }
    await fixture.api.create(deployments, { ...rook, metadata: { ...rook.metadata, namespace, labels } })
    await fixture.seconds(5)
    expect(await fixture.told()).toEqual(['Normal OsdPrepareStarted', 'Normal OsdGrowthOff'])
  })

  it('with nothing to do writes nothing and asks Ceph nothing, whatever nodes and OSDs report', async () => {
    operate()
    await fixture.grow({})
    await fixture.seconds(60)
    const before = [...fixture.written]
    await fixture.cordon('node-y')
    await fixture.cordon('node-y', false)
    await fixture.evictOsd(0)
    await fixture.seconds(300)
    expect([fixture.written, fixture.asked]).toEqual([before, []])
  })

  it('looks again when somebody asks for it, and finds what was put in without a word', async () => {
    operate()
    await fixture.grow({})
    await fixture.seconds(30)
    fixture.prepare.addDevice('node-z', { name: 'sdq' })
    await fixture.seconds(60)
    expect(await fixture.ids()).toHaveLength(6)
    await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/prepare-again': '2026-11-15T12:00:00Z' } } })
    await fixture.seconds(60)
    expect([await fixture.ids(), await fixture.jobs()]).toEqual([[0, 1, 2, 3, 4, 5, 6], []])
  })

  it('looks at a node that is cordoned once it is back', async () => {
    await fixture.cordon('node-x')
    operate()
    await fixture.grow({ 'node-x': 'sdz' })
    await fixture.seconds(60)
    expect(await fixture.statuses()).toEqual(idle.slice(1))
    await fixture.cordon('node-x', false)
    await fixture.seconds(60)
    expect([await fixture.statuses(), await fixture.ids()]).toEqual([idle, [0, 1, 2, 3, 4, 5, 6]])
  })
})

describe('results of prepare Jobs', () => {
  const write = async (place: string, generation: string, osds: unknown) => {
    await fixture.api.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: `rook-ceph-osd-${place}-status`,
        namespace,
        labels: { app: 'rook-ceph-osd', node: place },
        annotations: { 'cofferdam.io/generation': generation },
      },
      data: { status: JSON.stringify({ status: 'completed', osds }) },
    })
  }

  it('of an older generation are ignored, and the place is looked at anew (63)', async () => {
    await write('node-x', '0', [{ id: 90 }])
    operate()
    await fixture.grow({})
    await fixture.seconds(60)
    expect([await fixture.ids(), await fixture.statuses()]).toEqual([[0, 1, 2, 3, 4, 5], idle])
  })

  it('are used once: an OSD whose Deployment somebody deletes afterwards does not come back by itself (64)', async () => {
    operate()
    await fixture.grow({ 'node-x': 'sdz' })
    await fixture.seconds(60)
    await fixture.api.delete(deployments, { namespace, name: 'rook-ceph-osd-6' })
    await fixture.seconds(120)
    expect(await fixture.ids()).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('lead to Deployments for those OSDs that lack one, and leave the others as they are (65)', async () => {
    const before = await fixture.osds()
    operate()
    await fixture.grow({ 'node-y': 'sdx,sdy' })
    await fixture.seconds(60)
    expect(fixture.written.filter((text) => text.includes('deployments/'))).toEqual([
      'create deployments/rook-ceph-osd-6',
      'create deployments/rook-ceph-osd-7',
    ])
    const after = await fixture.osds()
    expect(after.filter(({ metadata }) => Number(metadata.labels?.['osd']) < 6).map(({ spec }) => spec)).toEqual(
      before.map(({ spec }) => spec),
    )
  })

  it('count as used although the server refuses an OSD, whose trouble stays on record; the others are made (66)', async () => {
    operate(
      refusing((name) =>
        name === 'deployments/rook-ceph-osd-6' ? new ApiError('Forbidden', 'no more OSDs') : undefined,
      ),
    )
    await fixture.grow({ 'node-x': 'sdx,sdy' })
    await fixture.seconds(120)
    expect([await fixture.ids(), await fixture.statuses()]).toEqual([[0, 1, 2, 3, 4, 5, 7], idle])
    expect(await fixture.notes('OsdGrowthFailed')).toEqual(['node-x: osd.6 was refused: no more OSDs'])
  })

  it('are kept when the server is in trouble, so that no OSD is forgotten', async () => {
    let isInTrouble = true
    operate(
      refusing((name) =>
        isInTrouble && name.startsWith('deployments/') ? new ApiError('ServiceUnavailable', 'try later') : undefined,
      ),
    )
    await fixture.grow({ 'node-x': 'sdx' })
    await fixture.seconds(60)
    expect(await fixture.statuses()).toEqual(['node-x: completed', ...idle.slice(1)])
    isInTrouble = false
    await fixture.seconds(300)
    expect([await fixture.ids(), await fixture.statuses()]).toEqual([[0, 1, 2, 3, 4, 5, 6], idle])
  })

  it('that make no sense are told of once, and hold up no other place', async () => {
    fixture.prepare.setFault('node-x', 'garbage')
    operate()
    await fixture.grow({ 'node-x': 'sdx', 'node-y': 'sdy' })
    await fixture.seconds(120)
    expect(await fixture.ids()).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(await fixture.notes('OsdGrowthFailed')).toEqual([
      'node-x: rook-ceph-osd-node-x-status: its key status is no JSON',
    ])
  })
})

describe('growth and trouble', () => {
  it('failed prepares on two of three nodes are told of, and the healthy node has its OSD (67)', async () => {
    fixture.prepare.setFault('node-x', { message: 'sdx holds a file system' })
    fixture.prepare.setFault('node-y', 'mute')
    operate()
    await fixture.grow({ 'node-x': 'sdx', 'node-y': 'sdy', 'node-z': 'sdz' })
    await fixture.seconds(200)
    expect([await fixture.ids(), (await fixture.up()).length]).toEqual([[0, 1, 2, 3, 4, 5, 6], 7])
    expect((await fixture.notes('OsdGrowthFailed')).sort()).toEqual([
      'node-x: sdx holds a file system',
      'node-y: Job rook-ceph-osd-prepare-node-y ended without a result',
    ])
    fixture.prepare.setFault('node-x', undefined)
    fixture.prepare.setFault('node-y', undefined)
    await fixture.wantImage(newImage)
    await fixture.seconds(60)
    expect([(await fixture.ids()).length, await fixture.statuses(), await fixture.jobs()]).toEqual([9, idle, []])
  })

  it('a change of the cluster ends what runs for the one before it, and a deletion ends all of it', async () => {
    operate()
    await fixture.grow({ 'node-x': 'sdx' })
    await fixture.seconds(4)
    expect(await fixture.jobs()).toHaveLength(3)
    await fixture.wantImage(newImage)
    await fixture.seconds(60)
    expect([await fixture.ids(), await fixture.jobs(), await fixture.statuses()]).toEqual([
      [0, 1, 2, 3, 4, 5, 6],
      [],
      idle,
    ])

    await fixture.api.patch(nodes, { name: 'node-y' }, { type: 'merge', body: disks('sdy') })
    await fixture.seconds(4)
    expect(await fixture.jobs()).toHaveLength(1)
    await fixture.deleteCluster()
    await fixture.seconds(30)
    expect(await fixture.jobs()).toEqual([])
  })

  it('a Job that the server does not take is told of and not tried again and again', async () => {
    const refused: string[] = []
    operate(
      refusing((name) => {
        if (name !== 'jobs/rook-ceph-osd-prepare-node-x') return undefined
        refused.push(name)
        return new ApiError('Forbidden', 'no privileged pods here')
      }),
    )
    await fixture.grow({ 'node-x': 'sdx', 'node-y': 'sdy' })
    await fixture.seconds(300)
    expect([refused.length, await fixture.ids()]).toEqual([1, [0, 1, 2, 3, 4, 5, 6]])
    expect(await fixture.notes('OsdGrowthFailed')).toEqual([
      'node-x: the API server refused its prepare Job: no privileged pods here',
    ])
  })
})

describe('device sets', () => {
  const set = (count: number, more: object = {}) => ({
    spec: {
      storage: {
        storageClassDeviceSets: [
          {
            name: 'set1',
            count,
            portable: true,
            volumeClaimTemplates: [
              {
                metadata: { name: 'data' },
                spec: {
                  accessModes: ['ReadWriteOnce'],
                  volumeMode: 'Block',
                  storageClassName: 'fast',
                  resources: { requests: { storage: '1Ti' } },
                },
              },
            ],
            ...more,
          },
        ],
      },
    },
  })

  const claims = async () => {
    const { items } = await fixture.api.list(persistentVolumeClaims, { namespace })
    return items.map(({ metadata }) => metadata.name)
  }

  it('get their claims, and an OSD on each of them that no node is bound to', async () => {
    for (const at of [0, 1]) fixture.prepare.addDevice(`set1-data-${at}`, { name: `mnt/set1-data-${at}` })
    operate()
    await fixture.patchCluster({ ...set(2) })
    await fixture.seconds(90)
    expect(await claims()).toEqual(['set1-data-0', 'set1-data-1'])
    const made = (await fixture.osds()).filter(({ metadata }) => Number(metadata.labels?.['osd']) >= 6)
    expect(
      made.map(({ metadata, spec }) => [metadata.labels?.['ceph.rook.io/pvc'], spec.template.spec.nodeSelector]).sort(),
    ).toEqual([
      ['set1-data-0', undefined],
      ['set1-data-1', undefined],
    ])
    expect(await fixture.up()).toHaveLength(8)
  })

  it('get another claim for a lost one only when its OSD is gone too and somebody asks', async () => {
    for (const at of [0, 1, 2]) fixture.prepare.addDevice(`set1-data-${at}`, { name: `mnt/set1-data-${at}` })
    operate()
    await fixture.patchCluster({ ...set(2) })
    await fixture.seconds(90)
    await fixture.api.delete(persistentVolumeClaims, { namespace, name: 'set1-data-1' })
    await fixture.seconds(60)
    expect(await claims()).toEqual(['set1-data-0'])
    const gone = (await fixture.osds()).find(({ metadata }) => metadata.labels?.['ceph.rook.io/pvc'] === 'set1-data-1')
    await fixture.api.delete(deployments, { namespace, name: gone?.metadata.name ?? '' })
    await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/prepare-again': '2026-11-15T12:00:00Z' } } })
    await fixture.seconds(60)
    expect(await claims()).toEqual(['set1-data-0', 'set1-data-1'])
  })

  it('get as many claims as they say, however late the claims are seen', async () => {
    const { api } = fixture
    for (const at of [0, 1]) fixture.prepare.addDevice(`set1-data-${at}`, { name: `mnt/set1-data-${at}` })
    operate(
      changedApi(api, {
        watch: (type, query) =>
          type.plural === persistentVolumeClaims.plural ? lateBy(120, api.watch(type, query)) : api.watch(type, query),
      }),
    )
    await fixture.patchCluster({ ...set(2) })
    await fixture.seconds(400)
    expect([await claims(), (await fixture.ids()).length]).toEqual([['set1-data-0', 'set1-data-1'], 8])
  })

  it('that only Rook can prepare are left alone, and nothing is made for them', async () => {
    operate()
    await fixture.patchCluster({ ...set(2, { encrypted: true }) })
    await fixture.seconds(60)
    expect([await claims(), await fixture.statuses()]).toEqual([[], idle])
  })
})

function disks(text: string) {
  return { metadata: { annotations: { 'cofferdam.io/disks': text } } }
}

/** The same events, but what is new is told only after a while. */
async function* lateBy<T extends { readonly type: string }>(seconds: number, told: AsyncIterable<T>): AsyncIterable<T> {
  for await (const event of told) {
    if (event.type === 'ADDED') {
      await new Promise<void>((resolve) => {
        fixture.clock.after(seconds * 1_000, resolve)
      })
    }
    yield event
  }
}
