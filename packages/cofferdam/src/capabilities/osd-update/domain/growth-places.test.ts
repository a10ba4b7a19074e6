import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { PersistentVolumeClaim } from '@cofferdam/kubernetes/api/storage.ts'
import { describe, expect, it } from 'vitest'
import { type GrowthPlace, generationAsked, growthPlaces, type PlaceObjects, placedOsd } from './growth-places.ts'

type Storage = NonNullable<NonNullable<CephCluster['spec']>['storage']>

function cluster(storage: Storage, annotations: Record<string, string> = {}): CephCluster {
  return {
    apiVersion: 'ceph.rook.io/v1',
    kind: 'CephCluster',
    metadata: { name: 'c', namespace: 'rook-ceph', uid: 'u', generation: 4, annotations },
    spec: { storage },
  }
}

function node(
  name: string,
  given: Partial<Node['spec'] & { ready: 'True' | 'Unknown'; disks: string; hostname: string }> = {},
): Node {
  const { ready = 'True', disks, hostname = name, ...spec } = given
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { 'kubernetes.io/hostname': hostname },
      ...(disks !== undefined && { annotations: { 'cofferdam.io/disks': disks } }),
    },
    spec,
    status: { conditions: [{ type: 'Ready', status: ready }] },
  }
}

function places(storage: Storage, given: Partial<PlaceObjects> = {}): readonly GrowthPlace[] {
  return growthPlaces({ cluster: cluster(storage), nodes: [], claims: [], deployments: [], inspected: [], ...given })
}

const taint = (key: string) => ({ taints: [{ key, effect: 'NoSchedule' as const }] })

describe('nodes that OSDs are wanted on', () => {
  const all = [
    node('a'),
    node('b', { unschedulable: true, ...taint('node.kubernetes.io/unschedulable') }),
    node('c', { ready: 'Unknown' }),
    node('control', taint('node-role.kubernetes.io/control-plane')),
    node('d', { disks: 'sdc' }),
    node('e', taint('karpenter.sh/disrupted')),
  ]

  it('say how many OSDs can come of disks that are named one by one, so that a forged result brings no more', () => {
    const devices = [{ name: 'sdb' }, { name: 'sdc', config: { osdsPerDevice: '4' } }]
    const most = (storage: Storage) => places(storage, { nodes: [node('a')] }).map(({ mostOsds }) => mostOsds)
    expect(most({ useAllNodes: true, devices })).toEqual([5])
    expect(most({ nodes: [{ name: 'a', devices, config: { osdsPerDevice: '2' } }] })).toEqual([6])
    expect(most({ nodes: [{ name: 'a', useAllDevices: true }], devices })).toEqual([undefined])
    expect(most({ useAllNodes: true, useAllDevices: true })).toEqual([undefined])
  })

  it('are all of them but those that are set aside for other pods; one that is cordoned or away waits', () => {
    expect(places({ useAllNodes: true }, { nodes: all })).toEqual([
      { name: 'a', asked: '4' },
      { name: 'b', asked: '4', unusable: 'the node is cordoned' },
      { name: 'c', asked: '4', unusable: 'the node is not ready' },
      { name: 'd', asked: '4 disks=sdc' },
      { name: 'e', asked: '4', unusable: 'the node is closed by taint karpenter.sh/disrupted (Karpenter)' },
    ])
  })

  it('are those that are named, by their hostname; one that is named and does not exist is told of', () => {
    const nodes = [node('machine-1', { hostname: 'a' }), node('control', taint('own'))]
    expect(places({ nodes: [{ name: 'control' }, { name: 'a' }, { name: 'z' }, { name: 'a' }] }, { nodes })).toEqual([
      { name: 'a', asked: '4' },
      { name: 'control', asked: '4', unusable: 'the node has the taint own, which spec.placement does not tolerate' },
      { name: 'z', asked: '4', unusable: 'there is no such node' },
    ])
  })

  it('are looked at again when somebody asks for it', () => {
    const again = cluster({ useAllNodes: true }, { 'cofferdam.io/prepare-again': '2026-11-15T12:00:00Z' })
    expect(places({}, { cluster: again, nodes: [node('d', { disks: 'sdc' })] })).toEqual([
      { name: 'd', asked: '4 again=2026-11-15T12:00:00Z disks=sdc' },
    ])
  })

  it('count one OSD for a disk where the number makes no sense, and the number for all disks where a node has none', () => {
    const devices = [{ name: 'sdb' }, { name: 'sdc' }]
    const most = (osdsPerDevice: string) =>
      places({ useAllNodes: true, devices, config: { osdsPerDevice } }, { nodes: [node('a')] })[0]?.mostOsds
    expect([most('3'), most('many'), most('-2')]).toEqual([6, 2, 2])
  })

  it('are none where the CephCluster says nothing of storage: no disk is touched unasked', () => {
    const { spec: _, ...bare } = cluster({})
    expect(places({}, { cluster: bare, nodes: [node('a')] })).toEqual([])
  })

  it('are not prepared while they are being deleted: an OSD there would be lost with its data', () => {
    const leaving = node('a')
    const nodes = [{ ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: '2026-11-15T08:00:00Z' } }]
    expect(places({ useAllNodes: true }, { nodes })).toEqual([
      { name: 'a', asked: '4', unusable: 'the node is being deleted' },
    ])
  })

  const tainted = (value?: string): Partial<Node['spec']> => ({
    taints: [{ key: 'storage', effect: 'NoExecute', ...(value !== undefined && { value }) }],
  })
  it.each([
    ['another effect is no toleration', { key: 'storage', operator: 'Exists', effect: 'NoSchedule' }, undefined, false],
    ['the same effect is one', { key: 'storage', operator: 'Exists', effect: 'NoExecute' }, undefined, true],
    ['another key is none', { key: 'gpu', operator: 'Exists' }, undefined, false],
    ['all keys are one', { operator: 'Exists' }, 'yes', true],
    ['the same value is one', { key: 'storage', value: 'yes' }, 'yes', true],
    ['another value is none', { key: 'storage', value: 'no' }, 'yes', false],
    ['no value on both is one', { key: 'storage' }, undefined, true],
    ['no key with a value is none, for it would tolerate everything', { value: 'yes' }, 'yes', false],
  ] as const)('by their taints: %s', (_, toleration, value, isPlace) => {
    const base = cluster({ useAllNodes: true })
    const tolerant = { ...base, spec: { ...base.spec, placement: { osd: { tolerations: [toleration] } } } }
    expect(places({}, { cluster: tolerant, nodes: [node('s', tainted(value))] })).toHaveLength(isPlace ? 1 : 0)
  })

  it('may be tolerated by the placement of OSDs', () => {
    const base = cluster({ useAllNodes: true })
    const tolerations = [{ key: 'storage', operator: 'Exists' as const }]
    const tolerant = { ...base, spec: { ...base.spec, placement: { osd: { tolerations } } } }
    expect(places({}, { cluster: tolerant, nodes: [node('s', taint('storage')), node('t', taint('other'))] })).toEqual([
      { name: 's', asked: '4' },
    ])
  })
})

describe('claims of device sets', () => {
  const template = { metadata: { name: 'data' }, spec: {} }
  const set = (count: number, more: object = {}): Storage => ({
    storageClassDeviceSets: [{ name: 'set1', count, volumeClaimTemplates: [template], ...more }],
  })
  const claim = (name: string, index: number, namespace = 'rook-ceph'): PersistentVolumeClaim => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace,
      labels: { 'ceph.rook.io/DeviceSet': 'set1', 'ceph.rook.io/setIndex': String(index) },
    },
  })
  const onClaim = (name: string) =>
    ({ metadata: { name: 'd', labels: { 'ceph.rook.io/pvc': name } } }) as unknown as Deployment
  const held = (name: string, index: number) => ({
    name,
    asked: '4',
    claim: { set: 'set1', index, isMissing: false },
  })
  const missing = (index: number) => ({
    name: `set1-data-${index}`,
    asked: '4',
    claim: { set: 'set1', index, isMissing: true },
  })

  it('that Rook made are taken as they are, and those that lack are numbered on', () => {
    const claims = [claim('set1-data-0x7k2p', 0), claim('set1-data-3qqq', 3), claim('set1-data-8', 8, 'elsewhere')]
    expect(places(set(3), { claims })).toEqual([held('set1-data-0x7k2p', 0), held('set1-data-3qqq', 3), missing(4)])
  })

  it('that all lack are numbered from the first, each once', () => {
    expect(places(set(3))).toEqual([missing(0), missing(1), missing(2)])
  })

  it('that are more than wanted stay', () => {
    const claims = [claim('set1-data-0', 0), claim('set1-data-1', 1)]
    expect(places(set(1), { claims })).toEqual([held('set1-data-0', 0), held('set1-data-1', 1)])
  })

  it('that an OSD is on, or that were begun with, count though they are not seen, and their names are not given again', () => {
    const inspected = [
      { place: 'set1-data-1', asked: '4' },
      { place: 'set1-data-9', asked: '3' },
      { place: 'other-data-7', asked: '4' },
    ]
    expect(places(set(3), { deployments: [onClaim('set1-data-0')], inspected })).toEqual([missing(1), missing(2)])
    expect(places(set(2), { deployments: [onClaim('set1-data-0'), onClaim('set1-data-1')], inspected })).toEqual([
      missing(1),
    ])
  })

  it('of others are none of the set: those without its labels, and names that go on with no number', () => {
    const strange = claim('set1-data-0', 0)
    const claims = [
      { ...strange, metadata: { name: 'set1-data-7', namespace: 'rook-ceph' } },
      {
        ...claim('set2-data-0', 0),
        metadata: {
          ...strange.metadata,
          name: 'x',
          labels: { 'ceph.rook.io/DeviceSet': 'set2', 'ceph.rook.io/setIndex': '0' },
        },
      },
      {
        ...strange,
        metadata: {
          ...strange.metadata,
          labels: { 'ceph.rook.io/DeviceSet': 'set1', 'ceph.rook.io/setIndex': 'first' },
        },
      },
    ]
    const unlabelled = { metadata: { name: 'd' } } as unknown as Deployment
    const inspected = [{ place: 'set1-data-old', asked: '4' }]
    expect(places(set(1), { claims, deployments: [unlabelled], inspected })).toEqual([missing(0)])
  })

  it('that are seen by now are not made once more, though they were begun with', () => {
    const inspected = [{ place: 'set1-data-0', asked: '4' }]
    expect(places(set(1), { claims: [claim('set1-data-0', 0)], inspected })).toEqual([held('set1-data-0', 0)])
  })

  it.each([
    [{ encrypted: true }, 'device set set1 is encrypted, which only Rook prepares'],
    [{ volumeClaimTemplates: [] }, 'device set set1 has no volumeClaimTemplates'],
    [
      { volumeClaimTemplates: [template, template] },
      'device set set1 has volumes of its own for metadata, which only Rook prepares',
    ],
  ])('are not made where nothing could be prepared on them: %j', (more, unusable) => {
    expect(places(set(1, more))).toEqual([{ ...missing(0), unusable }])
  })

  it('have no say where the OSD is on a disk of its node', () => {
    const osd = { id: 7, node: 'a', location: { host: 'a' } }
    expect(placedOsd(osd, { cluster: cluster(set(1)), place: { name: 'a', asked: '4' }, nodes: [] })).toBe(osd)
  })

  it('bind their OSD to the node it was prepared on, unless they can move', () => {
    const osd = { id: 7, node: undefined, pvc: 'set1-data-0', location: { host: 'a-example' } }
    const nodes = [node('a.example')]
    const place = held('set1-data-0', 0)
    expect(placedOsd(osd, { cluster: cluster(set(1)), place, nodes })).toEqual({
      ...osd,
      set: 'set1',
      node: 'a.example',
    })
    expect(placedOsd(osd, { cluster: cluster(set(1, { portable: true })), place, nodes })).toEqual({
      ...osd,
      set: 'set1',
    })
  })
})

it.each([
  ['4', 4],
  ['4 disks=sdc', 4],
  ['4x', undefined],
  ['', undefined],
  [undefined, undefined],
])('what was asked begins with the generation; what makes no sense is of the past: %j', (asked, generation) => {
  expect(generationAsked(asked)).toBe(generation)
})
