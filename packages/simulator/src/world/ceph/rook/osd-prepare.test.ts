import type { Job } from '@cofferdam/kubernetes/api/apps.ts'
import { configMaps, deployments, jobs, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import {
  generationAnnotation,
  parsePrepareStatus,
} from '@cofferdam/product/capabilities/osd-update/domain/prepare-status.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { container } from '../../testing/scenario.ts'
import { type CephFixture, cephNamespace, daemon, type OsdDumpAnswer, openCeph } from '../testing/ceph-fixture.ts'
import { type OsdPrepare, startOsdPrepare } from './osd-prepare.ts'

const firstNew = [{ name: 'sdc', size: 2, deviceClass: 'nvme' }, { name: 'sdd' }]

let fixture: CephFixture
let prepare: OsdPrepare
beforeEach(async () => {
  fixture = await openCeph()
  const { api, clock, random, world, ceph, failures } = fixture
  prepare = startOsdPrepare({
    api,
    clock,
    random,
    views: world.views,
    onFailure: (failure) => failures.push(failure),
    namespace: cephNamespace,
    ceph,
    devices: { 'node-1': [{ name: 'sda', osd: 0 }, { name: 'sdb', osd: 1 }, ...firstNew], 'node-2': [] },
    isOn: world.kubelet.isOn,
  })
})
afterEach(() => {
  expect(fixture.failures).toEqual([])
  prepare.stop()
  fixture.stop()
})

function job(
  place: string,
  { pvc = false, labels = {} }: { pvc?: boolean; labels?: Record<string, string> } = {},
): Job {
  const own = { app: 'rook-ceph-osd-prepare', ...(pvc && { 'ceph.rook.io/pvc': place }), ...labels }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `rook-ceph-osd-prepare-${place}`,
      namespace: cephNamespace,
      labels: own,
      annotations: { [generationAnnotation]: '4' },
    },
    spec: {
      template: {
        metadata: { labels: own },
        spec: {
          containers: [container],
          restartPolicy: 'Never',
          ...(!pvc && { nodeSelector: { 'kubernetes.io/hostname': place } }),
        },
      },
    },
  }
}

const key = (place: string) => ({ namespace: cephNamespace, name: `rook-ceph-osd-${place}-status` })
const rawStatus = (place: string) => fixture.api.get(configMaps, key(place)).catch(() => undefined)

async function status(place: string) {
  const map = await rawStatus(place)
  const parsed = map && parsePrepareStatus(map)
  return parsed && ('status' in parsed ? parsed.status : parsed)
}

async function jobEnd(place: string) {
  const held = await fixture.api.get(jobs, { namespace: cephNamespace, name: `rook-ceph-osd-prepare-${place}` })
  return held.status?.conditions?.map(({ type }) => type).at(-1)
}

async function again(place: string) {
  const name = `rook-ceph-osd-prepare-${place}`
  await fixture.api.delete(jobs, { namespace: cephNamespace, name }, { propagationPolicy: 'Background' })
  await fixture.seconds(15)
  await fixture.api.create(jobs, job(place))
  await fixture.seconds(20)
}

describe('a prepare Job whose pod runs', () => {
  it('says what it does, makes OSDs of the disks that are none, and reports all of its node before it ends', async () => {
    await fixture.api.create(jobs, job('node-1'))
    await fixture.seconds(4)
    expect(await status('node-1')).toMatchObject({ state: 'orchestrating', asked: '4', osds: [] })
    await fixture.seconds(4)
    expect(await jobEnd('node-1')).toBeUndefined()
    const location = { root: 'default', zone: 'zone-a', host: 'node-1' }
    const common = {
      node: 'node-1',
      location,
      store: 'bluestore',
      isEncrypted: false,
      mode: 'raw',
      uuid: expect.any(String) as string,
    }
    expect(await status('node-1')).toEqual({
      name: 'rook-ceph-osd-node-1-status',
      place: 'node-1',
      asked: '4',
      state: 'completed',
      message: '',
      isUsed: false,
      osds: [
        { id: 0, blockPath: '/dev/sda', deviceClass: 'ssd', ...common },
        { id: 1, blockPath: '/dev/sdb', deviceClass: 'ssd', ...common },
        { id: 12, blockPath: '/dev/sdc', deviceClass: 'nvme', ...common },
        { id: 13, blockPath: '/dev/sdd', deviceClass: 'ssd', ...common },
      ],
    })
    await fixture.seconds(20)
    expect(await jobEnd('node-1')).toBe('Complete')
  })

  it('leads to OSDs that serve as soon as they have their Deployments', async () => {
    await fixture.api.create(jobs, job('node-1'))
    await fixture.seconds(10)
    for (const id of ['12', '13']) await fixture.api.create(deployments, daemon('osd', id, 'node-1'))
    await fixture.seconds(120)
    const { osds } = await fixture.ask<OsdDumpAnswer>('osd dump')
    expect(osds.filter((osd) => osd.up === 1 && osd.in === 1)).toHaveLength(14)
    expect(await fixture.states()).toEqual({ 'active+clean': 64 })
  })

  it('finds the same OSDs when it runs again, and a disk that was put in since', async () => {
    await fixture.api.create(jobs, job('node-1'))
    await fixture.seconds(20)
    prepare.addDevice('node-1', { name: 'sde' })
    await again('node-1')
    expect((await status('node-1')) ?? {}).toMatchObject({
      state: 'completed',
      osds: [{ id: 0 }, { id: 1 }, { id: 12 }, { id: 13 }, { id: 14 }],
    })
  })

  it('keeps what others wrote on its ConfigMap, as an annotation of the operator', async () => {
    await fixture.api.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        ...key('node-2'),
        labels: { app: 'rook-ceph-osd', node: 'node-2' },
        annotations: { [generationAnnotation]: '9' },
      },
      data: { status: '{"status":"starting"}', other: 'stays' },
    })
    await fixture.api.create(jobs, job('node-2'))
    await fixture.seconds(15)
    expect(await status('node-2')).toMatchObject({ state: 'completed', asked: '9', osds: [] })
    expect((await rawStatus('node-2'))?.data?.['other']).toBe('stays')
  })

  it('on a volume claim makes an OSD that is bound to no node', async () => {
    prepare.addDevice('set1-data-0', { name: 'mnt/set1' })
    await fixture.api.create(jobs, job('set1-data-0', { pvc: true }))
    await fixture.seconds(15)
    expect(await status('set1-data-0')).toMatchObject({
      state: 'completed',
      osds: [{ id: 12, node: undefined, pvc: 'set1-data-0', location: { root: 'default', host: 'set1-data-0' } }],
    })
  })

  it('finds the disks that an annotation puts into its node, and says so where it names none', async () => {
    const wish = (text: string) =>
      fixture.api.patch(
        nodes,
        { name: 'node-2' },
        { type: 'merge', body: { metadata: { annotations: { 'cofferdam.io/disks': text } } } },
      )
    await wish('sdx, sdy')
    await fixture.api.create(jobs, job('node-2'))
    await fixture.seconds(20)
    expect(await status('node-2')).toMatchObject({ state: 'completed', osds: [{ id: 12 }, { id: 13 }] })
    await wish('../etc')
    await again('node-2')
    expect(await status('node-2')).toMatchObject({
      state: 'failed',
      message:
        'failed to make OSDs on node-2: cofferdam.io/disks names "../etc", which is no disk; sdc,sdd would be two',
    })
  })

  it('is left alone where it is none of Rook, whatever its name', async () => {
    await fixture.api.create(jobs, job('node-1', { labels: { app: 'other' } }))
    await fixture.seconds(20)
    expect(await rawStatus('node-1')).toBeUndefined()
  })
})

describe('a prepare Job that goes wrong', () => {
  it('says why it failed, and gets its OSDs with the next pod once that is mended', async () => {
    prepare.setFault('node-1', { message: 'sdc holds a file system' })
    await fixture.api.create(jobs, job('node-1'))
    await fixture.seconds(15)
    expect(await status('node-1')).toMatchObject({ state: 'failed', message: 'sdc holds a file system', osds: [] })
    prepare.setFault('node-1', undefined)
    await fixture.seconds(40)
    expect(await status('node-1')).toMatchObject({ state: 'completed', message: '' })
    expect(await jobEnd('node-1')).toBe('Complete')
  })

  it.each([
    { fault: 'dies' as const, says: { state: 'orchestrating' } },
    { fault: 'mute' as const, says: { state: 'orchestrating' } },
    { fault: 'garbage' as const, says: { problem: 'its key status is no JSON' } },
  ])('by a fault of the kind $fault leaves what the operator must not take for a result', async ({ fault, says }) => {
    prepare.setFault('node-1', fault)
    await fixture.api.create(jobs, job('node-1'))
    await fixture.seconds(30)
    expect(await status('node-1')).toMatchObject(says)
    expect((await fixture.ask<OsdDumpAnswer>('osd dump')).osds).toHaveLength(12)
  })

  it('because Ceph does not answer makes nothing, and says so', async () => {
    fixture.ceph.controls.silence(true)
    await fixture.api.create(jobs, job('node-1'))
    await fixture.seconds(30)
    expect(await status('node-1')).toMatchObject({
      state: 'failed',
      message: 'failed to make OSDs on node-1: Ceph did not answer "status" within 15000 ms',
    })
    fixture.ceph.controls.silence(false)
    expect((await fixture.ask<OsdDumpAnswer>('osd dump')).osds).toHaveLength(12)
  })

  it('because its machine lost power makes nothing before that is back', async () => {
    await fixture.api.create(jobs, job('node-1'))
    await fixture.seconds(4)
    fixture.world.kubelet.powerOff('node-1')
    await fixture.seconds(20)
    expect(await status('node-1')).toMatchObject({ state: 'orchestrating' })
    expect((await fixture.ask<OsdDumpAnswer>('osd dump')).osds).toHaveLength(12)
    fixture.world.kubelet.powerOn('node-1')
    await fixture.seconds(60)
    expect(await status('node-1')).toMatchObject({ state: 'completed' })
  })
})
