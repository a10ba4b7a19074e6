import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { LonghornNode, LonghornReplica } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { describe, expect, it } from 'vitest'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { explainUnreadable } from './explain-hold.ts'
import { noLonghornObjects, parseLonghorn, parseManagers } from './parse-longhorn.ts'
import { parseLonghornNode } from './parse-node.ts'
import { parseInstanceManager, parseReplica } from './parse-replica.ts'
import { partOfLonghorn } from './part-of-longhorn.ts'
import { longhornObjects } from './testing/longhorn-objects.ts'

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

it('an object that cannot be read and is no volume stands for none: its name was taken for that of a volume', () => {
  const volumeOf = (object: string) => explainUnreadable({ object, why: 'odd' }).volume
  expect([volumeOf('volume/db'), volumeOf('replica/db')]).toEqual(['db', ''])
})

describe('objects whose reading fails', () => {
  const throwing = (kind: string, name: string) =>
    ({
      apiVersion: 'longhorn.io/v1beta2',
      kind,
      metadata: { name },
      get spec(): never {
        throw new Error('odd')
      },
    }) as never

  it('are their own misfortune alone: the others are judged', () => {
    const objects = longhornObjects()
    const instanceManagers = [...objects.instanceManagers, throwing('InstanceManager', 'odd')]
    const read = parseManagers({ instanceManagers, engines: [] })
    expect(read.map(({ name }) => name)).toEqual(['im-n1', 'im-n2', 'im-n3'])
    expect(parseLonghorn({ ...objects, instanceManagers }).unreadable).toEqual([
      { object: 'instancemanager/odd', why: 'Error: odd' },
    ])
  })
})

it('of two engines of a volume the active one says how much is rebuilt: the other one stands still', () => {
  const objects = longhornObjects({ volumes: { db: { on: ['n1', 'n2'] } } })
  const engine = (name: string, active: boolean, progress: number) =>
    ({
      apiVersion: 'longhorn.io/v1beta2',
      kind: 'Engine',
      metadata: { name },
      spec: { volumeName: 'db', active },
      status: { rebuildStatus: { r: { isRebuilding: true, progress } } },
    }) as never
  const engines = [engine('db-e-1', false, 10), engine('db-e-2', true, 50)]
  expect(parseLonghorn({ ...objects, engines }).volumes[0]?.rebuiltShare).toBe(0.5)
})

it('stopped replicas that run nowhere are counted where the image of their manager is not set', () => {
  const stopped = (volumes: Record<string, { on: string[] }>) => {
    const objects = longhornObjects({ volumes })
    const replicas = objects.replicas.map((replica) => ({ ...replica, status: {} }))
    return parseLonghorn({ ...objects, replicas }).settings.problems.join()
  }
  expect(stopped({ db: { on: ['n1'] } })).toContain('one stopped replica protects nothing')
  expect(stopped({ db: { on: ['n1', 'n2'] } })).toContain('2 stopped replicas protect nothing')
})

it('what a node has a part in leaves out managers that name no node', () => {
  const objects = longhornObjects({ volumes: { db: { on: ['n1', 'n2'] }, other: { on: ['n3'] } } })
  const nameless = { ...objects.instanceManagers[0], metadata: { name: 'x' }, spec: undefined } as never
  const part = partOfLonghorn(
    { ...objects, instanceManagers: [...objects.instanceManagers, nameless] },
    new Set(['n1']),
  )
  expect(part.volumes.map(({ metadata }) => metadata.name)).toEqual(['db'])
})
