import {
  longhornInstanceManagers,
  longhornNamespace,
  longhornReplicas,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { deployments, nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { type LonghornFixture, openLonghorn } from './testing/longhorn-fixture.ts'

const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }

describe('a Longhorn that handles drains itself', () => {
  it('moves replicas of a cordoned node, holds its budget as long, and takes everything back on uncordon', async () => {
    const fixture = await openLonghorn({
      ownDrainHandling: true,
      settings: { 'node-drain-policy': 'block-for-eviction' },
      csi: false,
      volumes: [pair],
      timings: { rebuildBytesPerSecond: 16 * 1024 ** 2 },
    })
    const {
      controls,
      list,
      node,
      placesOf,
      cordon,
      evictInstanceManagers,
      eventsAbout,
      replicasOf,
      seconds,
      until,
      stop,
    } = fixture
    expect(await list(podDisruptionBudgets)).toHaveLength(3)
    await controls.attach('db', 'node-2')
    await seconds(5)
    const [leaving] = (await replicasOf('db')).filter(({ spec }) => spec?.nodeID === 'node-1')
    await cordon('node-1')
    await seconds(5)
    expect((await node('node-1')).status?.autoEvicting).toBe(true)
    const told = (await list(longhornInstanceManagers)).map((manager) => [
      manager.spec?.nodeID,
      conditionOf(manager, 'NodeReady')?.reason,
    ])
    expect(told.toSorted()).toEqual([
      ['node-1', 'Unschedulable'],
      ['node-2', undefined],
      ['node-3', undefined],
    ])
    await expect(evictInstanceManagers('node-1')).rejects.toMatchObject({ code: 429 })
    await until(async () => (await placesOf('db')).join() === 'node-2,node-3')
    await until(async () => (await list(podDisruptionBudgets)).length === 2)
    await evictInstanceManagers('node-1')
    await cordon('node-1', false)
    await until(async () => (await list(podDisruptionBudgets)).length === 3)
    expect((await node('node-1')).status?.autoEvicting).toBe(false)
    expect(
      (await eventsAbout(leaving?.metadata.name ?? '')).some((event) => event.startsWith('Normal EvictionAutomatic')),
    ).toBe(true)
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })

  it('rewrites a flag that somebody else raised', async () => {
    const { list, requestEviction, eventsAbout, until, stop } = await openLonghorn({
      ownDrainHandling: true,
      volumes: [pair],
    })
    await requestEviction('node-1')
    await until(async () => (await list(longhornReplicas)).every(({ spec }) => spec?.evictionRequested === false), 31)
    const [first] = (await list(longhornReplicas)).filter(({ spec }) => spec?.nodeID === 'node-1')
    expect(await eventsAbout(first?.metadata.name ?? '')).toEqual([
      expect.stringMatching(/^Normal EvictionCanceled x1: Cancelling eviction of replica db-r-\w+ from node node-1/),
    ])
    stop()
  })

  it('gets stuck, as Longhorn does, on a copy whose node Kubernetes no longer has', async () => {
    const fixture = await openLonghorn({
      ownDrainHandling: true,
      volumes: [{ ...pair, numberOfReplicas: 3, placedOn: ['node-1', 'node-2', 'node-3'] }],
    })
    const { api, controls, cordon, list, seconds, stop } = fixture
    await controls.attach('db', 'node-1')
    await seconds(5)
    await controls.detach('db')
    await seconds(5)
    const guarded = async () =>
      (await list(podDisruptionBudgets)).map(({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node']).sort()
    await cordon('node-2')
    await seconds(60)
    expect(await guarded()).toEqual(['node-1', 'node-3'])
    await cordon('node-2', false)
    await seconds(60)
    fixture.world.kubelet.powerOff('node-3')
    await api.delete(nodes, { name: 'node-3' })
    await cordon('node-2')
    await seconds(120)
    expect(await guarded()).toContain('node-2')
    stop()
  })

  it('keeps one pod each that attaches and makes volumes while any volume is in use, and lets them go when none is', async () => {
    const fixture = await openLonghorn({ ownDrainHandling: true, volumes: [pair] })
    const { api, controls, list, seconds, until, stop } = fixture
    const csiBudgets = async () =>
      (await list(podDisruptionBudgets))
        .filter(({ metadata }) => metadata.name.startsWith('csi-'))
        .map(({ metadata, spec }) => [metadata.name, spec.minAvailable, spec.selector?.matchLabels])
    expect(
      (await list(deployments)).map(({ metadata, spec, status }) => [
        metadata.name,
        spec.selector.matchLabels,
        status?.readyReplicas,
      ]),
    ).toEqual([
      ['csi-attacher', { app: 'csi-attacher' }, 3],
      ['csi-provisioner', { app: 'csi-provisioner' }, 3],
    ])
    expect(await csiBudgets()).toEqual([])
    await controls.attach('db', 'node-2')
    await until(async () => (await csiBudgets()).length > 0)
    await seconds(1)
    expect(await csiBudgets()).toEqual([
      ['csi-attacher', 1, { app: 'csi-attacher' }],
      ['csi-provisioner', 1, { app: 'csi-provisioner' }],
    ])
    await api.delete(podDisruptionBudgets, { namespace: longhornNamespace, name: 'csi-attacher' })
    await controls.detach('db')
    await seconds(10)
    expect(await csiBudgets()).toEqual([])
    stop()
  })

  const guardedNodes = async ({ list }: LonghornFixture) =>
    (await list(podDisruptionBudgets))
      .flatMap(({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node'] ?? [])
      .sort()
  const flagged = async ({ list }: LonghornFixture) =>
    (await list(longhornReplicas)).filter(({ spec }) => spec?.evictionRequested).map(({ spec }) => spec?.nodeID)

  it('raises and lowers no flag on a node whose manager is down, though the budget is still looked after', async () => {
    const fixture = await openLonghorn({
      ownDrainHandling: true,
      settings: { 'node-drain-policy': 'block-for-eviction' },
      volumes: [pair],
    })
    const { controls, cordon, node, setting, seconds, stop } = fixture
    controls.setManager('node-1', false)
    await cordon('node-1')
    await seconds(90)
    expect(await flagged(fixture)).toEqual([])
    expect(conditionOf(await node('node-1'), 'Ready')).toMatchObject({ status: 'False', reason: 'ManagerPodDown' })
    expect(await guardedNodes(fixture)).toEqual(['node-1', 'node-2', 'node-3'])
    await setting('node-drain-policy', 'always-allow')
    await seconds(31)
    expect(await guardedNodes(fixture)).toEqual(['node-2', 'node-3'])
    await setting('node-drain-policy', 'block-for-eviction')
    controls.setManager('node-1', true)
    await seconds(5)
    expect(await flagged(fixture)).toEqual(['node-1'])
    stop()
  })

  it('tells flags of a new policy at once, and budgets only when it looks again', async () => {
    const fixture = await openLonghorn({
      ownDrainHandling: true,
      settings: { 'node-drain-policy': 'block-for-eviction', 'concurrent-replica-rebuild-per-node-limit': '0' },
      volumes: [pair],
    })
    const { cordon, setting, seconds, stop } = fixture
    await cordon('node-1')
    await seconds(35)
    expect(await flagged(fixture)).toEqual(['node-1'])
    await setting('node-drain-policy', 'always-allow')
    await seconds(5)
    expect(await flagged(fixture)).toEqual([])
    expect(await guardedNodes(fixture)).toContain('node-1')
    await seconds(30)
    expect(await guardedNodes(fixture)).toEqual(['node-2', 'node-3'])
    stop()
  })

  it('does not hear that the last replica of a node is gone: its budget goes when it looks again', async () => {
    const fixture = await openLonghorn({
      ownDrainHandling: true,
      attachForEviction: 'nobody',
      settings: { 'node-drain-policy': 'block-for-eviction' },
      volumes: [pair],
    })
    const { api, cordon, replicasOf, seconds, stop } = fixture
    await cordon('node-1')
    await seconds(35)
    const [last] = (await replicasOf('db')).filter(({ spec }) => spec?.nodeID === 'node-1')
    await api.delete(longhornReplicas, { namespace: longhornNamespace, name: last?.metadata.name ?? '' })
    await seconds(5)
    expect(await guardedNodes(fixture)).toContain('node-1')
    await seconds(30)
    expect(await guardedNodes(fixture)).toEqual(['node-2', 'node-3'])
    stop()
  })

  it('takes its wish back from a node that is not ready, and says so', async () => {
    const fixture = await openLonghorn({
      ownDrainHandling: true,
      settings: { 'node-drain-policy': 'block-for-eviction', 'concurrent-replica-rebuild-per-node-limit': '0' },
      volumes: [pair],
    })
    const { cordon, eventsAbout, node, replicasOf, seconds, world, stop } = fixture
    const [leaving] = (await replicasOf('db')).filter(({ spec }) => spec?.nodeID === 'node-1')
    await cordon('node-1')
    await seconds(5)
    expect((await node('node-1')).status?.autoEvicting).toBe(true)
    world.kubelet.setReady('node-1', false)
    await seconds(60)
    expect(await flagged(fixture)).toEqual([])
    expect((await node('node-1')).status?.autoEvicting).toBe(false)
    // Their names are drawn, so the list is in no order.
    expect((await eventsAbout(leaving?.metadata.name ?? '')).map((event) => event.split(' x')[0]).sort()).toEqual([
      'Normal EvictionAutomatic',
      'Normal KubernetesNodeNotReady',
    ])
    stop()
  })

  it('moves no last copy either, once another copy of the volume is on a node that Kubernetes no longer has', async () => {
    const fixture = await openLonghorn({
      ownDrainHandling: true,
      settings: { 'node-drain-policy': 'block-for-eviction-if-contains-last-replica' },
      volumes: [pair, { ...pair, name: 'single', numberOfReplicas: 1, placedOn: ['node-1'] }],
    })
    const { api, cordon, world, list, seconds, stop } = fixture
    world.kubelet.powerOff('node-2')
    await api.delete(nodes, { name: 'node-2' })
    await seconds(60)
    await cordon('node-1')
    await seconds(120)
    const [first] = (await list(longhornReplicas)).filter(({ spec }) => spec?.nodeID === 'node-1')
    expect(first?.spec?.volumeName).toBe('db')
    expect(await flagged(fixture)).toEqual([])
    expect(await guardedNodes(fixture)).toContain('node-1')
    stop()
  })

  it('moves replicas of a cordoned node from disk to disk of that node without end, where cordoned nodes may take replicas', async () => {
    const fixture = await openLonghorn(
      {
        ownDrainHandling: true,
        csi: false,
        disks: [{ name: 'fast' }, { name: 'slow' }],
        settings: { 'node-drain-policy': 'block-for-eviction', 'disable-scheduling-on-cordoned-node': 'false' },
        volumes: [pair],
      },
      { nodeCount: 2 },
    )
    const { controls, cordon, placesOf, replicasOf, seconds, setting, until, stop } = fixture
    const namesHere = async () =>
      (await replicasOf('db')).filter(({ spec }) => spec?.nodeID === 'node-1').map(({ metadata }) => metadata.name)
    await controls.attach('db', 'node-2')
    await seconds(5)
    const seen = new Set(await namesHere())
    await cordon('node-1')
    await until(async () => {
      for (const name of await namesHere()) seen.add(name)
      return seen.size >= 4
    })
    await setting('disable-scheduling-on-cordoned-node', 'true')
    await seconds(60)
    const settled = await namesHere()
    await seconds(60)
    expect(await namesHere()).toEqual(settled)
    expect(await placesOf('db')).toContain('node-1')
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })
})
