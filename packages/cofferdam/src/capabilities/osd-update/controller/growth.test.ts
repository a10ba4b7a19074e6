import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { configMaps, deployments, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumeClaims } from '@cofferdam/kubernetes/api/storage.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { changedApi, deployment } from '@cofferdam/simulator/world/testing/story.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { alone, namespace } from '../../ceph-drain/testing/ceph-stage.ts'
import { type OsdGrowthStage, openOsdGrowthStage, rookImage } from '../testing/osd-growth-stage.ts'
import { newImage } from '../testing/osd-update-stage.ts'

let stage: OsdGrowthStage
beforeEach(async () => {
  stage = await openOsdGrowthStage()
})
afterEach(async () => {
  await stage.close()
  expect(stage.failures).toEqual([])
})

const operate = (api?: KubeApi) => stage.operate({ controllers: ['osd-growth'], ...(api !== undefined && { api }) })
const idle = ['node-x: completed, used', 'node-y: completed, used', 'node-z: completed, used']

/** Answers to new objects that are not the server's own. */
function refusing(refuse: (name: string) => ApiError | undefined): KubeApi {
  const { api } = stage
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
    await stage.grow({ 'node-x': 'sdz' })
    expect(await stage.until(async () => (await stage.up()).length === 7, 120)).toBe(true)
    await stage.watch(60)
    expect([await stage.ids(), await stage.jobs(), await stage.statuses()]).toEqual([[0, 1, 2, 3, 4, 5, 6], [], idle])
    expect(await stage.groupsOn(6)).toBeGreaterThan(0)
    expect(await stage.told()).toEqual(['Normal OsdPrepareStarted', 'Normal OsdAdded'])
    expect(await stage.notes('OsdAdded')).toEqual(['added osd.6 on node-x'])
  })

  it('does nothing unless the administrator has it switched on, whatever image the cluster names: that would be run as root', async () => {
    stage.operate({ controllers: ['osd-growth'], trust: alone })
    await stage.patchCluster({ metadata: { annotations: { 'cofferdam.io/rook-image': 'registry.example/evil:1' } } })
    await stage.seconds(60)
    expect([stage.written, await stage.told(), await stage.jobs()]).toEqual([[], [], []])
  })

  it('takes the image from the administrator alone, and is told when it goes off, as when a Rook comes', async () => {
    await stage.patchCluster({ metadata: { annotations: { 'cofferdam.io/rook-image': 'registry.example/evil:1' } } })
    operate()
    await stage.seconds(1)
    const images = (await stage.jobs()).map(({ spec }) => spec.template.spec.initContainers?.[0]?.image)
    expect(images).toEqual([rookImage, rookImage, rookImage])
    await stage.seconds(30)
    const rook = deployment('rook-ceph-operator', { replicas: 1 })
    const labels = { operator: 'rook', 'storage-backend': 'ceph' }
    await stage.api.create(deployments, { ...rook, metadata: { ...rook.metadata, namespace, labels } })
    await stage.seconds(5)
    expect(await stage.told()).toEqual(['Normal OsdPrepareStarted', 'Normal OsdGrowthOff'])
  })

  it('with nothing to do writes nothing and asks Ceph nothing, whatever nodes and OSDs report', async () => {
    operate()
    await stage.grow({})
    await stage.seconds(60)
    const before = [...stage.written]
    await stage.cordon('node-y')
    await stage.cordon('node-y', false)
    await stage.evictOsd(0)
    await stage.seconds(300)
    expect([stage.written, stage.asked]).toEqual([before, []])
  })

  it('looks again when somebody asks for it, and finds what was put in without a word', async () => {
    operate()
    await stage.grow({})
    await stage.seconds(30)
    stage.prepare.addDevice('node-z', { name: 'sdq' })
    await stage.seconds(60)
    expect(await stage.ids()).toHaveLength(6)
    await stage.patchCluster({ metadata: { annotations: { 'cofferdam.io/prepare-again': '2026-11-15T12:00:00Z' } } })
    await stage.seconds(60)
    expect([await stage.ids(), await stage.jobs()]).toEqual([[0, 1, 2, 3, 4, 5, 6], []])
  })

  it('looks at a node that is cordoned once it is back', async () => {
    await stage.cordon('node-x')
    operate()
    await stage.grow({ 'node-x': 'sdz' })
    await stage.seconds(60)
    expect(await stage.statuses()).toEqual(idle.slice(1))
    await stage.cordon('node-x', false)
    await stage.seconds(60)
    expect([await stage.statuses(), await stage.ids()]).toEqual([idle, [0, 1, 2, 3, 4, 5, 6]])
  })
})

describe('results of prepare Jobs', () => {
  const write = async (place: string, generation: string, osds: unknown) => {
    await stage.api.create(configMaps, {
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
    await stage.grow({})
    await stage.seconds(60)
    expect([await stage.ids(), await stage.statuses()]).toEqual([[0, 1, 2, 3, 4, 5], idle])
  })

  it('are used once: an OSD whose Deployment somebody deletes afterwards does not come back by itself (64)', async () => {
    operate()
    await stage.grow({ 'node-x': 'sdz' })
    await stage.seconds(60)
    await stage.api.delete(deployments, { namespace, name: 'rook-ceph-osd-6' })
    await stage.seconds(120)
    expect(await stage.ids()).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('lead to Deployments for those OSDs that lack one, and leave the others as they are (65)', async () => {
    const before = await stage.osds()
    operate()
    await stage.grow({ 'node-y': 'sdx,sdy' })
    await stage.seconds(60)
    expect(stage.written.filter((text) => text.includes('deployments/'))).toEqual([
      'create deployments/rook-ceph-osd-6',
      'create deployments/rook-ceph-osd-7',
    ])
    const after = await stage.osds()
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
    await stage.grow({ 'node-x': 'sdx,sdy' })
    await stage.seconds(120)
    expect([await stage.ids(), await stage.statuses()]).toEqual([[0, 1, 2, 3, 4, 5, 7], idle])
    expect(await stage.notes('OsdGrowthFailed')).toEqual(['node-x: osd.6 was refused: no more OSDs'])
  })

  it('are kept when the server is in trouble, so that no OSD is forgotten', async () => {
    let isInTrouble = true
    operate(
      refusing((name) =>
        isInTrouble && name.startsWith('deployments/') ? new ApiError('ServiceUnavailable', 'try later') : undefined,
      ),
    )
    await stage.grow({ 'node-x': 'sdx' })
    await stage.seconds(60)
    expect(await stage.statuses()).toEqual(['node-x: completed', ...idle.slice(1)])
    isInTrouble = false
    await stage.seconds(300)
    expect([await stage.ids(), await stage.statuses()]).toEqual([[0, 1, 2, 3, 4, 5, 6], idle])
  })

  it('that make no sense are told of once, and hold up no other place', async () => {
    stage.prepare.setFault('node-x', 'garbage')
    operate()
    await stage.grow({ 'node-x': 'sdx', 'node-y': 'sdy' })
    await stage.seconds(120)
    expect(await stage.ids()).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(await stage.notes('OsdGrowthFailed')).toEqual([
      'node-x: rook-ceph-osd-node-x-status: its key status is no JSON',
    ])
  })
})

describe('growth and trouble', () => {
  it('failed prepares on two of three nodes are told of, and the healthy node has its OSD (67)', async () => {
    stage.prepare.setFault('node-x', { message: 'sdx holds a file system' })
    stage.prepare.setFault('node-y', 'mute')
    operate()
    await stage.grow({ 'node-x': 'sdx', 'node-y': 'sdy', 'node-z': 'sdz' })
    await stage.seconds(200)
    expect([await stage.ids(), (await stage.up()).length]).toEqual([[0, 1, 2, 3, 4, 5, 6], 7])
    expect((await stage.notes('OsdGrowthFailed')).sort()).toEqual([
      'node-x: sdx holds a file system',
      'node-y: Job rook-ceph-osd-prepare-node-y ended without a result',
    ])
    stage.prepare.setFault('node-x', undefined)
    stage.prepare.setFault('node-y', undefined)
    await stage.wantImage(newImage)
    await stage.seconds(60)
    expect([(await stage.ids()).length, await stage.statuses(), await stage.jobs()]).toEqual([9, idle, []])
  })

  it('a change of the cluster ends what runs for the one before it, and a deletion ends all of it', async () => {
    operate()
    await stage.grow({ 'node-x': 'sdx' })
    await stage.seconds(4)
    expect(await stage.jobs()).toHaveLength(3)
    await stage.wantImage(newImage)
    await stage.seconds(60)
    expect([await stage.ids(), await stage.jobs(), await stage.statuses()]).toEqual([[0, 1, 2, 3, 4, 5, 6], [], idle])

    await stage.api.patch(nodes, { name: 'node-y' }, { type: 'merge', body: disks('sdy') })
    await stage.seconds(4)
    expect(await stage.jobs()).toHaveLength(1)
    await stage.deleteCluster()
    await stage.seconds(30)
    expect(await stage.jobs()).toEqual([])
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
    await stage.grow({ 'node-x': 'sdx', 'node-y': 'sdy' })
    await stage.seconds(300)
    expect([refused.length, await stage.ids()]).toEqual([1, [0, 1, 2, 3, 4, 5, 6]])
    expect(await stage.notes('OsdGrowthFailed')).toEqual([
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
    const { items } = await stage.api.list(persistentVolumeClaims, { namespace })
    return items.map(({ metadata }) => metadata.name)
  }

  it('get their claims, and an OSD on each of them that no node is bound to', async () => {
    for (const at of [0, 1]) stage.prepare.addDevice(`set1-data-${at}`, { name: `mnt/set1-data-${at}` })
    operate()
    await stage.patchCluster({ ...set(2) })
    await stage.seconds(90)
    expect(await claims()).toEqual(['set1-data-0', 'set1-data-1'])
    const made = (await stage.osds()).filter(({ metadata }) => Number(metadata.labels?.['osd']) >= 6)
    expect(
      made.map(({ metadata, spec }) => [metadata.labels?.['ceph.rook.io/pvc'], spec.template.spec.nodeSelector]).sort(),
    ).toEqual([
      ['set1-data-0', undefined],
      ['set1-data-1', undefined],
    ])
    expect(await stage.up()).toHaveLength(8)
  })

  it('get another claim for a lost one only when its OSD is gone too and somebody asks', async () => {
    for (const at of [0, 1, 2]) stage.prepare.addDevice(`set1-data-${at}`, { name: `mnt/set1-data-${at}` })
    operate()
    await stage.patchCluster({ ...set(2) })
    await stage.seconds(90)
    await stage.api.delete(persistentVolumeClaims, { namespace, name: 'set1-data-1' })
    await stage.seconds(60)
    expect(await claims()).toEqual(['set1-data-0'])
    const gone = (await stage.osds()).find(({ metadata }) => metadata.labels?.['ceph.rook.io/pvc'] === 'set1-data-1')
    await stage.api.delete(deployments, { namespace, name: gone?.metadata.name ?? '' })
    await stage.patchCluster({ metadata: { annotations: { 'cofferdam.io/prepare-again': '2026-11-15T12:00:00Z' } } })
    await stage.seconds(60)
    expect(await claims()).toEqual(['set1-data-0', 'set1-data-1'])
  })

  it('get as many claims as they say, however late the claims are seen', async () => {
    const { api } = stage
    for (const at of [0, 1]) stage.prepare.addDevice(`set1-data-${at}`, { name: `mnt/set1-data-${at}` })
    operate(
      changedApi(api, {
        watch: (type, query) =>
          type.plural === persistentVolumeClaims.plural ? lateBy(120, api.watch(type, query)) : api.watch(type, query),
      }),
    )
    await stage.patchCluster({ ...set(2) })
    await stage.seconds(400)
    expect([await claims(), (await stage.ids()).length]).toEqual([['set1-data-0', 'set1-data-1'], 8])
  })

  it('that only Rook can prepare are left alone, and nothing is made for them', async () => {
    operate()
    await stage.patchCluster({ ...set(2, { encrypted: true }) })
    await stage.seconds(60)
    expect([await claims(), await stage.statuses()]).toEqual([[], idle])
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
        stage.clock.after(seconds * 1_000, resolve)
      })
    }
    yield event
  }
}
