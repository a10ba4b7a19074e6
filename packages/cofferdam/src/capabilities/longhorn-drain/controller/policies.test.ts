import { longhornNamespace, longhornNodes, longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumes, storageClasses } from '@cofferdam/kubernetes/api/storage.ts'
import { describe, expect, it } from 'vitest'
import { type OperatedLonghorn, openOperatedLonghorn } from '../testing/longhorn-operator.ts'

const namespace = longhornNamespace
const creeping = { rebuildBytesPerSecond: 64 * 1024 }
const single = (name: string) => ({ name, numberOfReplicas: 1, placedOn: ['node-1'], filled: 0.25 })

async function leaving({ list }: OperatedLonghorn): Promise<string[]> {
  const flagged = (await list(longhornReplicas)).filter(({ spec }) => spec?.evictionRequested === true)
  return flagged.map(({ spec }) => `${spec?.volumeName} from ${spec?.nodeID}`).sort()
}

describe('volumes with a drain policy of their own', () => {
  it('by label move, with all that is on their disk, and hold the node whatever the setting says', async () => {
    const fixture = await openOperatedLonghorn({
      timings: creeping,
      settings: { 'node-drain-policy': 'always-allow' },
      volumes: [
        { ...single('mover'), labels: { 'cofferdam.io/node-drain-policy': 'block-for-eviction' } },
        { ...single('free'), labels: { 'cofferdam.io/node-drain-policy': 'always-allow' } },
      ],
    })
    for (const name of ['mover', 'free']) await fixture.controls.attach(name, 'node-3')
    await fixture.seconds(5)
    await fixture.cordon('node-1')
    await fixture.seconds(5)
    expect(await leaving(fixture)).toEqual(['free from node-1', 'mover from node-1'])
    expect(await fixture.evict('node-1')).toBe('refused')
    expect(await fixture.told('node-1')).toContain('Normal DiskEvictionAsked')
    await fixture.close()
  })

  it('by the parameter of their StorageClass, which the label overrules', async () => {
    const fixture = await openOperatedLonghorn({
      timings: creeping,
      disks: [
        { name: 'a', uuid: 'disk-a' },
        { name: 'b', uuid: 'disk-b' },
      ],
      volumes: [
        single('classed'),
        { ...single('labelled'), labels: { 'cofferdam.io/node-drain-policy': 'block-if-contains-last-replica' } },
      ],
    })
    const { api, controls, cordon, seconds, close } = fixture
    const parameters = { nodeDrainPolicy: 'block-for-eviction' }
    await api.create(storageClasses, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'precious' },
      provisioner: 'driver.longhorn.io',
      parameters,
    } as KubeObject)
    for (const name of ['classed', 'labelled']) {
      await api.create(persistentVolumes, {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: `pv-${name}` },
        spec: {
          storageClassName: 'precious',
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          csi: { driver: 'driver.longhorn.io', volumeHandle: name },
        },
      } as KubeObject)
      await controls.attach(name, 'node-3')
    }
    await seconds(5)
    await cordon('node-1')
    await seconds(5)
    expect(await leaving(fixture)).toEqual(['classed from node-1'])
    const disks = Object.values((await fixture.node('node-1')).spec?.disks ?? {})
    expect(disks.filter(({ evictionRequested }) => evictionRequested === true)).toHaveLength(1)
    await close()
  })

  it('strict-local: the verdict is told at once', async () => {
    const fixture = await openOperatedLonghorn({
      settings: { 'node-drain-policy': 'block-for-eviction' },
      volumes: [{ ...single('bound'), dataLocality: 'strict-local' }],
    })
    await fixture.cordon('node-1')
    await fixture.seconds(120)
    expect(await fixture.evict('node-1')).toBe('refused')
    expect(await fixture.told('node-1')).toEqual(['Normal StrictLocalReplica'])
    await fixture.cordon('node-1', false)
    await fixture.seconds(5)
    expect(await leaving(fixture)).toEqual([])
    await fixture.close()
  })
})

describe('requests of users', () => {
  const two = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }
  const disks = [
    { name: 'a', uuid: 'disk-a' },
    { name: 'b', uuid: 'disk-b' },
  ]

  async function emptyDisk({ api, node }: OperatedLonghorn, name: string): Promise<void> {
    const before = (await node('node-1')).spec?.disks?.[name]
    const disk = { ...before, allowScheduling: false, evictionRequested: true }
    const body = { spec: { disks: { [name]: disk } } }
    await api.patch(longhornNodes, { namespace, name: 'node-1' }, { type: 'merge', body: body as never })
  }

  it('for a disk: its replicas leave, cordon or not, and that is not called automatic', async () => {
    const fixture = await openOperatedLonghorn({ volumes: [two], timings: creeping })
    await fixture.controls.attach('db', 'node-2')
    await fixture.seconds(5)
    await emptyDisk(fixture, 'default-disk')
    await fixture.seconds(5)
    expect(await leaving(fixture)).toEqual(['db from node-1'])
    expect((await fixture.node('node-1')).status?.autoEvicting).toBe(false)
    await fixture.close()
  })

  it('for one disk of a cordoned node: the rest is called automatic', async () => {
    const fixture = await openOperatedLonghorn({
      settings: { 'node-drain-policy': 'block-for-eviction' },
      nodes: { 'node-1': { disks }, 'node-2': {}, 'node-3': {} },
      volumes: ['v1', 'v2', 'v3', 'v4'].map((name) => ({ ...two, name })),
      timings: creeping,
    })
    for (const name of ['v1', 'v2', 'v3', 'v4']) await fixture.controls.attach(name, 'node-2')
    await fixture.seconds(5)
    const onDisk = async (uuid: string) =>
      (await fixture.list(longhornReplicas))
        .filter(({ spec }) => spec?.diskID === uuid)
        .map(({ metadata }) => metadata.name)
    const [onA, onB] = [await onDisk('disk-a'), await onDisk('disk-b')]
    expect([onA.length > 0, onB.length > 0]).toEqual([true, true])
    await emptyDisk(fixture, 'a')
    await fixture.cordon('node-1')
    await fixture.seconds(5)
    expect((await leaving(fixture)).length).toBe(onA.length + onB.length)
    expect((await fixture.node('node-1')).status?.autoEvicting).toBe(true)
    await fixture.close()
  })

  it('for a node that is cordoned as well: the user is named, not the policy', async () => {
    const fixture = await openOperatedLonghorn({
      settings: { 'node-drain-policy': 'block-for-eviction' },
      volumes: [two],
      timings: creeping,
    })
    const { api, controls, cordon, node, seconds, close } = fixture
    await controls.attach('db', 'node-2')
    await seconds(5)
    const body = { spec: { allowScheduling: false, evictionRequested: true } }
    await api.patch(longhornNodes, { namespace, name: 'node-1' }, { type: 'merge', body })
    await cordon('node-1')
    await seconds(5)
    expect(await leaving(fixture)).toEqual(['db from node-1'])
    expect((await node('node-1')).status?.autoEvicting).toBe(false)
    await close()
  })
})

describe('a cluster that is autoscaled', () => {
  it('has its budgets thinned out by Longhorn, but at no instant is a volume without one', async () => {
    const counts: number[] = []
    const fixture = await openOperatedLonghorn({
      settings: { 'kubernetes-cluster-autoscaler-enabled': 'true' },
      volumes: [{ name: 'db', numberOfReplicas: 3, filled: 0.25 }],
      timings: { resyncMs: 5_000 },
    })
    const { api, cordon, guarded, list, seconds, close } = fixture
    await seconds(30)
    const [keeper = ''] = await guarded()
    expect(await guarded()).toEqual([keeper])
    // As where two of its managers let go at once.
    for (const { metadata } of (await list(podDisruptionBudgets)).filter(
      (each) => !each.metadata.name.startsWith('csi-'),
    ))
      await api.delete(podDisruptionBudgets, { namespace, name: metadata.name })
    await fixture.clock.advance(100)
    expect(await guarded()).not.toEqual([])
    expect(fixture.written).toContainEqual(expect.stringMatching(/^create poddisruptionbudgets\/cofferdam-hold-/))
    await seconds(30)
    const [next = ''] = await guarded()
    await cordon(next)
    for (let second = 0; second < 60; second += 1) {
      await seconds(1)
      counts.push(new Set(await guarded()).size)
    }
    expect(await guarded()).not.toContain(next)
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(1)
    expect(counts.at(-1)).toBe(1)
    await close()
  })
})

describe('a node that Kubernetes no longer has', () => {
  it('protects nothing; that Longhorn stumbles over its copy is told with the way out, and then the next node is drained', async () => {
    const fixture = await openOperatedLonghorn({
      settings: { 'node-drain-policy': 'block-for-eviction-if-contains-last-replica' },
      volumes: [{ name: 'db', numberOfReplicas: 3, filled: 0.25 }],
    })
    const { api, controls, cordon, evict, held, list, seconds, told, until, world, close } = fixture
    world.kubelet.powerOff('node-1')
    await api.delete(nodes, { name: 'node-1' })
    await seconds(30)
    await cordon('node-2')
    await seconds(130)
    expect([await evict('node-2'), await held()]).toEqual(['refused', []])
    expect(await told('node-2')).toContain('Warning LonghornStuck')
    const [lost] = (await list(longhornReplicas)).filter(({ spec }) => spec?.nodeID === 'node-1')
    await api.delete(longhornReplicas, { namespace, name: lost?.metadata.name ?? '' })
    await until(async () => (await evict('node-2')) === 'going', 90)
    expect(controls.verify('db').isIntact).toBe(true)
    await close()
  })
})
