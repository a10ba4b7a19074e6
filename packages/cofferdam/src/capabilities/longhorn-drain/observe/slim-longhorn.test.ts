import type { LonghornEngine, LonghornVolumeAttachment } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { describe, expect, it } from 'vitest'
import { type LonghornObjects, parseLonghorn } from '../domain/parse-longhorn.ts'
import { longhornObjects } from '../domain/testing/longhorn-objects.ts'
import {
  slimAttachment,
  slimEngine,
  slimInstanceManager,
  slimLonghornNode,
  slimReplica,
  slimVolume,
} from './slim-longhorn.ts'

type Parts = KubeObject & { readonly spec?: object; readonly status?: object }

const group = { apiVersion: 'longhorn.io/v1beta2' }
const engine: LonghornEngine = {
  ...group,
  kind: 'Engine',
  metadata: { name: 'v-e-0' },
  spec: { volumeName: 'v', active: true },
  status: { rebuildStatus: { r: { isRebuilding: true, progress: 40 } }, replicaModeMap: { r: 'RW' } },
}
const attachment: LonghornVolumeAttachment = {
  ...group,
  kind: 'VolumeAttachment',
  metadata: { name: 'v' },
  spec: { attachmentTickets: { t: { id: 't', type: 'csi-attacher', nodeID: 'n1' } } },
}
const objects: LonghornObjects = {
  ...longhornObjects({ nodes: { n1: { cordoned: true }, n2: {}, n3: {} }, volumes: { v: { on: ['n1', 'n2', 'n3'] } } }),
  engines: [engine],
  attachments: [attachment],
}
const kinds = {
  nodes: slimLonghornNode,
  volumes: slimVolume,
  replicas: slimReplica,
  engines: slimEngine,
  instanceManagers: slimInstanceManager,
  attachments: slimAttachment,
} as const
type Kind = keyof typeof kinds
const names = Object.keys(kinds) as Kind[]
const slim = (kind: Kind, object: unknown) => (kinds[kind] as (object: unknown) => Parts)(object)

/** The same, telling which fields were asked for. */
function recorded(object: Parts, read: Set<string>): Parts {
  const part = (name: 'spec' | 'status') =>
    new Proxy(object[name] ?? {}, {
      get(fields, field) {
        if (typeof field === 'string') read.add(`${name}.${field}`)
        return Reflect.get(fields, field) as unknown
      },
    })
  return { ...object, spec: part('spec'), status: part('status') }
}

describe("what is kept of Longhorn's objects", () => {
  it.each(names)('has every field that is read of %s: one that is not kept would be taken for absent', (kind) => {
    const read = new Set<string>()
    parseLonghorn({ ...objects, [kind]: (objects[kind] as readonly Parts[]).map((object) => recorded(object, read)) })
    expect(read.size).toBeGreaterThan(0)
    const lost = [...read].filter((path) => {
      const [part, field] = path.split('.') as ['spec' | 'status', string]
      return !Object.hasOwn(slim(kind, { metadata: { name: 'x' }, [part]: { [field]: {} } })[part] ?? {}, field)
    })
    expect(lost).toEqual([])
  })

  it('is judged as the whole is, though that has much beside it', () => {
    const more = { snapshots: { s: { name: 's' } }, frontend: 'blockdev', managedByLonghorn: true }
    const whole = (kind: Kind) =>
      (objects[kind] as readonly Parts[]).map((object) => ({
        ...object,
        spec: { ...object.spec, ...more },
        status: { ...object.status, ...more },
      }))
    const seen = { ...objects, ...Object.fromEntries(names.map((kind) => [kind, whole(kind)])) }
    const kept = Object.fromEntries(names.map((kind) => [kind, whole(kind).map((object) => slim(kind, object))]))
    expect(parseLonghorn({ ...objects, ...kept })).toEqual(parseLonghorn(seen))
    expect(JSON.stringify(kept)).not.toContain('snapshots')
  })

  it('leaves out what an instance manager says of each process: with thirty each, it is more than all replicas', () => {
    const process = { spec: { name: 'v-e-0', backendStoreDriver: 'v1' }, status: { endpoint: 'tcp://10.0.0.1:1' } }
    const status = { instanceEngines: { 'v-e-0': process }, instanceReplicas: { 'v-r-0': process } }
    expect(slim('instanceManagers', { metadata: { name: 'im' }, status }).status).toEqual({
      instanceEngines: { 'v-e-0': {} },
    })
  })

  it.each<[string, unknown]>([
    ['a text', 'broken'],
    ['a list', []],
    ['null', null],
  ])('keeps a status that is %s as it is, so that the object is still reported as unreadable', (_, status) => {
    for (const kind of names) expect(slim(kind, { metadata: { name: 'x' }, status }).status).toBe(status)
  })
})
