import { longhornNamespace, longhornNodes, longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { describe, expect, it } from 'vitest'
import { type OperatedLonghorn, openOperatedLonghorn } from '../testing/longhorn-operator.ts'

const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }
const single = { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], filled: 0.25 }
const slowly = { rebuildBytesPerSecond: 16 * 1024 ** 2 }
const all = ['node-1', 'node-2', 'node-3']

async function replicaOn({ replicasOf }: OperatedLonghorn, volume: string, node: string): Promise<string> {
  const [found] = (await replicasOf(volume)).filter(({ spec }) => spec?.nodeID === node)
  return found?.metadata.name ?? ''
}

describe('longhorn-drain in charge', () => {
  it('moves the replica of a cordoned node, lets the drain end then, and takes everything back on uncordon', async () => {
    const fixture = await openOperatedLonghorn({
      settings: { 'node-drain-policy': 'block-for-eviction' },
      volumes: [pair],
      timings: slowly,
    })
    const { controls, cordon, evict, guarded, node, placesOf, seconds, told, until, close } = fixture
    expect(await guarded()).toEqual(all)
    await controls.attach('db', 'node-2')
    await seconds(5)
    const leaving = await replicaOn(fixture, 'db', 'node-1')
    await cordon('node-1')
    await seconds(2)
    expect((await node('node-1')).status?.autoEvicting).toBe(true)
    expect(await evict('node-1')).toBe('refused')
    expect(await told(leaving)).toEqual(['Normal EvictionAutomatic'])
    await until(async () => (await placesOf('db')).join() === 'node-2,node-3')
    await until(async () => (await evict('node-1')) === 'going', 5)
    expect(await guarded()).toEqual(['node-2', 'node-3'])
    expect((await node('node-1')).status?.autoEvicting).toBe(false)
    await cordon('node-1', false)
    await until(async () => (await guarded()).join() === all.join(), 60)
    expect(controls.verify('db').isIntact).toBe(true)
    expect(fixture.warned).toEqual([])
    await close()
  })

  it('takes a move back when the node is uncordoned before it ended', async () => {
    const fixture = await openOperatedLonghorn({
      settings: { 'node-drain-policy': 'block-for-eviction' },
      volumes: [pair],
      timings: { rebuildBytesPerSecond: 1024 ** 2 },
    })
    const { controls, cordon, node, seconds, told, list, close } = fixture
    await controls.attach('db', 'node-2')
    await seconds(5)
    const staying = await replicaOn(fixture, 'db', 'node-1')
    await cordon('node-1')
    await seconds(20)
    await cordon('node-1', false)
    await seconds(5)
    expect(await told(staying)).toEqual(['Normal EvictionAutomatic', 'Normal EvictionCanceled'])
    expect((await node('node-1')).status?.autoEvicting).toBe(false)
    expect((await list(longhornReplicas)).filter(({ spec }) => spec?.evictionRequested === true)).toEqual([])
    await close()
  })

  it('holds the node of the last replica by default, and lets go of one whose volume has a copy elsewhere', async () => {
    const fixture = await openOperatedLonghorn({ volumes: [single, { ...pair, placedOn: ['node-2', 'node-3'] }] })
    const { controls, cordon, evict, guarded, placesOf, seconds, told, close } = fixture
    await controls.attach('solo', 'node-3')
    await controls.attach('db', 'node-3')
    await seconds(10)
    await cordon('node-1')
    await seconds(120)
    expect(await evict('node-1')).toBe('refused')
    expect(await told('node-1')).toEqual(['Normal LastReplica'])
    expect(await placesOf('solo')).toEqual(['node-1'])
    await cordon('node-2')
    await seconds(5)
    expect(await guarded()).toEqual(['node-1', 'node-3'])
    expect(await evict('node-2')).toBe('going')
    await close()
  })

  it('releases one of two nodes that hold the only two copies, never both', async () => {
    const fixture = await openOperatedLonghorn({ volumes: [pair] })
    const { controls, cordon, guarded, seconds, close } = fixture
    await controls.attach('db', 'node-3')
    await seconds(10)
    await Promise.all([cordon('node-1'), cordon('node-2')])
    for (let second = 0; second < 120; second += 1) {
      await seconds(1)
      expect((await guarded()).filter((name) => name !== 'node-3').length).toBeGreaterThanOrEqual(1)
    }
    await close()
  })

  it('asks the server before it lets go: a copy that failed unheard protects nothing', async () => {
    let isDeaf = false
    const fixture = await openOperatedLonghorn(
      { volumes: [pair], timings: { rebuildBytesPerSecond: 1 } },
      {
        nodeCount: 2,
        api: ({ api }) =>
          changedApi(api, {
            async *watch(type, query) {
              for await (const event of api.watch(type, query)) {
                if (!(isDeaf && type.plural === 'replicas')) yield event
              }
            },
          }),
      },
    )
    const { controls, cordon, guarded, replicasOf, seconds, close } = fixture
    await controls.attach('db', 'node-2')
    await seconds(10)
    await controls.detach('db')
    await seconds(10)
    await cordon('node-1')
    await seconds(5)
    expect(await guarded()).toEqual(['node-2'])
    await cordon('node-1', false)
    await seconds(5)
    isDeaf = true
    const key = { namespace: longhornNamespace, name: await replicaOn(fixture, 'db', 'node-2') }
    const body = { spec: { failedAt: '2026-01-01T00:00:00Z', healthyAt: '' } }
    await fixture.api.patch(longhornReplicas, key, { type: 'merge', body })
    await cordon('node-1')
    await seconds(30)
    expect((await replicasOf('db')).map(({ spec }) => spec?.failedAt !== '')).toContain(true)
    expect(await guarded()).toEqual(['node-1', 'node-2'])
    await close()
  })

  it('empties a node on request of a user, and stops asking when that node falls silent', async () => {
    const fixture = await openOperatedLonghorn({ volumes: [pair], timings: { rebuildBytesPerSecond: 1024 ** 2 } })
    const { api, controls, node, seconds, told, world, close } = fixture
    await controls.attach('db', 'node-2')
    await seconds(5)
    const leaving = await replicaOn(fixture, 'db', 'node-1')
    const key = { namespace: longhornNamespace, name: 'node-1' }
    const body = { spec: { allowScheduling: false, evictionRequested: true } }
    await api.patch(longhornNodes, key, { type: 'merge', body })
    await seconds(5)
    expect(await told(leaving)).toEqual(['Normal EvictionUserRequested'])
    expect((await node('node-1')).status?.autoEvicting).toBe(false)
    world.kubelet.powerOff('node-1')
    await seconds(90)
    expect(await told(leaving)).toEqual(['Normal EvictionUserRequested', 'Normal KubernetesNodeNotReady'])
    await close()
  })

  it('carries flags over from a Longhorn that had them in the status, once', async () => {
    const fixture = await openOperatedLonghorn({ volumes: [pair] }, { isOurs: false })
    const { api, annotate, list, node, seconds, written, close } = fixture
    for (const { metadata } of await list(longhornReplicas)) {
      const key = { namespace: longhornNamespace, name: metadata.name }
      await api.patch(longhornReplicas, key, { type: 'merge', body: { spec: { evictionRequested: null } } })
    }
    await annotate('true')
    await seconds(10)
    expect((await list(longhornReplicas)).map(({ spec }) => spec?.evictionRequested)).toEqual([false, false])
    expect((await node('node-1')).status?.autoEvicting).toBe(false)
    expect(written.filter((write) => write.startsWith('patch replicas/'))).toHaveLength(2)
    await seconds(600)
    expect(written.filter((write) => write.startsWith('patch replicas/'))).toHaveLength(2)
    await close()
  })

  it('writes nothing while nothing changes', async () => {
    const fixture = await openOperatedLonghorn({ volumes: [pair, single] })
    await fixture.cordon('node-1')
    await fixture.seconds(60)
    const before = [...fixture.written]
    await fixture.seconds(3_600)
    expect(fixture.written).toEqual(before)
    expect(before.length).toBeGreaterThan(0)
    await fixture.close()
  })

  it('tells of a policy it does not know, moves nothing and releases no last copy', async () => {
    const fixture = await openOperatedLonghorn({
      volumes: [single],
      settings: { 'node-drain-policy': 'block-everything' },
    })
    const { controls, cordon, eventsAbout, guarded, list, seconds, close } = fixture
    await controls.attach('solo', 'node-3')
    await seconds(10)
    expect(await eventsAbout('node-drain-policy')).toEqual([
      expect.stringMatching(/^Warning ObjectsUnusable x1: setting\/node-drain-policy: "block-everything" is none of/),
    ])
    await cordon('node-1')
    await seconds(120)
    expect(await guarded()).toEqual(all)
    expect((await list(longhornReplicas)).some(({ spec }) => spec?.evictionRequested === true)).toBe(false)
    await close()
  })

  it('never deletes a budget of somebody else, not even one with the name of an instance manager, and then lets none go', async () => {
    const fixture = await openOperatedLonghorn({ volumes: [pair] })
    const { api, cordon, eventsAbout, guarded, list, seconds, close } = fixture
    const [first] = (await list(podDisruptionBudgets)).filter(
      ({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node'] === 'node-3',
    )
    const key = { namespace: longhornNamespace, name: first?.metadata.name ?? '' }
    const foreign = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: key,
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    }
    await fixture.annotate(null)
    await api.delete(podDisruptionBudgets, key)
    await api.create(podDisruptionBudgets, foreign)
    await fixture.annotate('true')
    await cordon('node-1')
    await seconds(60)
    expect(await guarded()).toEqual(['', 'node-1', 'node-2'])
    expect((await api.get(podDisruptionBudgets, key)).spec).toEqual(foreign.spec)
    expect(await eventsAbout('node-drain-policy')).toEqual([
      expect.stringContaining(`poddisruptionbudget/${key.name}: it has the name of the budget of an instance manager`),
    ])
    await close()
  })
})

describe('longhorn-drain beside a Longhorn that nobody handed over', () => {
  it('only looks, until the setting is annotated, and again once the annotation is gone', async () => {
    const fixture = await openOperatedLonghorn(
      { settings: { 'node-drain-policy': 'block-for-eviction' }, volumes: [pair] },
      { isOurs: false },
    )
    const { annotate, cordon, guarded, seconds, written, close } = fixture
    await cordon('node-3')
    await seconds(60)
    expect(written).toEqual([])
    await annotate('true')
    await seconds(5)
    expect(await guarded()).toEqual(['node-1', 'node-2'])
    await annotate(null)
    const before = [...written]
    await cordon('node-1')
    await seconds(120)
    expect(written).toEqual(before)
    expect(await guarded()).toEqual(['node-1', 'node-2'])
    await close()
  })
})
