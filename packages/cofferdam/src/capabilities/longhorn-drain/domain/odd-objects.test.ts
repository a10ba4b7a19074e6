import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { LonghornNode, LonghornReplica } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { describe, expect, it } from 'vitest'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { noLonghornObjects, parseLonghorn } from './parse-longhorn.ts'
import { parseLonghornNode } from './parse-node.ts'
import { parseInstanceManager, parseReplica } from './parse-replica.ts'

const longhorn = { apiVersion: 'longhorn.io/v1beta2' }
const around = { kubeNode: undefined, disruptions: [], nowMs: 0, hasManager: undefined }
const nodeOf = (spec: object, status: object = {}) =>
  ({ ...longhorn, kind: 'Node', metadata: { name: 'n1' }, spec, status }) as LonghornNode

describe('a replica', () => {
  const replica = (spec: object) =>
    ({ ...longhorn, kind: 'Replica', metadata: { name: 'r' }, spec: { volumeName: 'db', ...spec } }) as LonghornReplica
  const sourceOf = (spec: object) => {
    const parsed = parseReplica(replica(spec), () => undefined)
    return 'view' in parsed ? parsed.view.cloneSource : 'unreadable'
  }
  it('that is a linked clone names its source: without that it could be moved away from it', () => {
    expect([sourceOf({ linkedCloneSrcReplicaName: 'origin' }), sourceOf({})]).toEqual(['origin', undefined])
  })
})

it('an instance manager of the second data engine is not taken for one of the first: its replicas would seem unprotected', () => {
  const engineOf = (spec: object) => {
    const manager = { ...longhorn, kind: 'InstanceManager', metadata: { name: 'm' }, spec: { nodeID: 'n1', ...spec } }
    const parsed = parseInstanceManager(manager as Parameters<typeof parseInstanceManager>[0], (name) => name)
    return 'view' in parsed ? parsed.view.dataEngine : 'unreadable'
  }
  expect([engineOf({ dataEngine: 'v2' }), engineOf({ dataEngine: 'v1' }), engineOf({})]).toEqual(['v2', 'v1', 'v1'])
})

describe('a node', () => {
  const disk = { allowScheduling: true }
  const figures = { storageMaximum: 100, storageAvailable: 50, storageScheduled: 10 }
  it('has no disk that Longhorn has not given a UUID yet: no replica can be on it', () => {
    const status = { diskStatus: { d1: { diskUUID: 'u1' }, d2: {} } }
    const { view } = parseLonghornNode(nodeOf({ disks: { d1: disk, d2: disk } }, status), around)
    expect(view.disks.map(({ name }) => name)).toEqual(['d1'])
  })

  it('whose disk says that it holds nothing at all denies no place by that: the figures are not there yet', () => {
    const roomOf = (more: object) => {
      const status = { diskStatus: { d1: { diskUUID: 'u1', ...figures, ...more } } }
      return parseLonghornNode(nodeOf({ disks: { d1: disk } }, status), around).view.disks[0]?.room
    }
    expect([roomOf({ storageMaximum: 0 }), roomOf({ storageMaximum: 'much' }), roomOf({})?.maximum]).toEqual([
      undefined,
      undefined,
      100,
    ])
  })

  it('whose request says no intent is to come back, as the default of the request is', () => {
    const disruption = { metadata: { name: 'd' }, spec: { nodeName: 'n1' } } as unknown as NodeDisruption
    expect(parseLonghornNode(nodeOf({}), { ...around, disruptions: [disruption] }).view.intent).toBe('Reboot')
  })

  it('whose taints cannot be read has no time of its cordon by them', () => {
    const spec = { unschedulable: true, taints: 'none' } as unknown as Node['spec']
    const kubeNode = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, ...(spec && { spec }) }
    expect(parseLonghornNode(nodeOf({}), { ...around, kubeNode }).view.cordonedSinceMs).toBeUndefined()
  })
})

describe('volumes of a StorageClass', () => {
  const volume = (name: string) => ({ ...longhorn, kind: 'Volume', metadata: { name }, spec: { numberOfReplicas: 2 } })
  const persistent = (name: string, spec: object) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec,
  })
  const storageClass = (name: string, parameters: Record<string, string>) => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner: 'driver.longhorn.io',
    parameters,
  })
  const objects = {
    ...noLonghornObjects,
    namespace: 'longhorn-system',
    nowMs: 0,
    volumes: ['by-handle', 'by-name', 'plain', 'classless'].map(volume),
    persistentVolumes: [
      persistent('pv-1', { storageClassName: 'moving', csi: { volumeHandle: 'by-handle' } }),
      persistent('by-name', { storageClassName: 'moving' }),
      persistent('plain', { storageClassName: 'silent' }),
      persistent('classless', {}),
    ],
    storageClasses: [storageClass('moving', { nodeDrainPolicy: 'block-for-eviction' }), storageClass('silent', {})],
  } as unknown as Parameters<typeof parseLonghorn>[0]

  it('have its policy, by the handle or the name of their PersistentVolume; others have that of the setting', () => {
    const own = parseLonghorn(objects).volumes.map(({ name, policy }) => [name, policy !== undefined])
    expect(own).toEqual([
      ['by-handle', true],
      ['by-name', true],
      ['plain', false],
      ['classless', false],
    ])
  })
})
