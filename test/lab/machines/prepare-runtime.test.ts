import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { parsePrepareStatus } from '@cofferdam/product/capabilities/osd-update/domain/prepare-status.ts'
import { scriptCeph } from '@cofferdam/product/ceph/testing/scripted-ceph.ts'
import type { RunningContainer } from '@cofferdam/simulator/world/nodes/container-runtime.ts'
import { expect, it } from 'vitest'
import { prepareRuntime } from './prepare-runtime.ts'

const journal = { tell: () => {}, text: () => '' }

function prepareFixture(disks: string) {
  const told: string[] = []
  const added: string[] = []
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node-a', annotations: { 'cofferdam.io/disks': disks } },
  }
  const api = {
    get: async () => node,
    patch: async (_type: unknown, _key: unknown, { body }: { body: { data: { status: string } } }) => {
      told.push(body.data.status)
      return node
    },
  } as unknown as KubeApi
  const commands = scriptCeph((command) => {
    if (command.prefix === 'osd crush ls') return JSON.stringify(['osd.0', ...added.map((_, at) => `osd.${at + 1}`)])
    const id = Number(command['id'])
    return JSON.stringify({
      osd_fsid: `uuid-${id}`,
      crush_location: id === 0 ? { root: 'default', host: 'node-a' } : {},
    })
  })
  const addOsd = async (host: string) => added.push(host)
  const runtime = prepareRuntime({ ceph: { commands, addOsd }, api, namespace: 'rook-ceph', journal })
  return { runtime, added, told }
}

function jobPod(job: string, namespace = 'rook-ceph'): Pod {
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: job, uid: 'u', controller: true }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${job}-x`, namespace, ownerReferences: [owner] },
    spec: { nodeName: 'node-a', containers: [] },
  }
}

it('a disk becomes one OSD, however often its node is prepared, and the result is what the operator reads', async () => {
  const { runtime, added, told } = prepareFixture('sdc')
  const prepare = () => runtime.start(jobPod('rook-ceph-osd-prepare-node-a')) as RunningContainer
  expect(await Promise.all([prepare().ended, prepare().ended])).toEqual([0, 0])
  expect(await prepare().ended).toBe(0)
  expect(added).toEqual(['node-a'])
  const metadata = { name: 'rook-ceph-osd-node-a-status', labels: { app: 'rook-ceph-osd' } }
  const status = parsePrepareStatus({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { status: told.at(-1) ?? '' },
  })
  const location = { root: 'default', host: 'node-a' }
  const osd = { node: 'node-a', location, deviceClass: 'ssd', store: 'bluestore', isEncrypted: false, mode: 'raw' }
  expect(status).toMatchObject({
    status: {
      place: 'node-a',
      state: 'completed',
      osds: [
        { ...osd, id: 0, uuid: 'uuid-0', blockPath: '/dev/osd-0' },
        { ...osd, id: 1, uuid: 'uuid-1', blockPath: '/dev/sdc' },
      ],
    },
  })
})

it('leaves other Jobs and other namespaces to others', () => {
  const { runtime } = prepareFixture('')
  expect(runtime.start(jobPod('import'))).toBeUndefined()
  expect(runtime.start(jobPod('rook-ceph-osd-prepare-node-a', 'elsewhere'))).toBeUndefined()
})
