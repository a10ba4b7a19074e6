import {
  longhornNamespace,
  longhornReplicas,
  longhornSettings,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { events, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { describe, expect, it } from 'vitest'
import { type OperatedLonghorn, openOperatedLonghorn } from '../testing/longhorn-operator.ts'

const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }
const single = { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], filled: 0.25 }
const slowly = { rebuildBytesPerSecond: 16 * 1024 ** 2 }
/** Stricter than the setting, by which Longhorn goes. */
const stricter = { notes: { 'wanted-policy': 'block-for-eviction' } }

async function replicaOn({ replicasOf }: OperatedLonghorn, volume: string, node: string): Promise<string> {
  const [found] = (await replicasOf(volume)).filter(({ spec }) => spec?.nodeID === node)
  return found?.metadata.name ?? ''
}

async function policyOf({ api }: OperatedLonghorn): Promise<string | undefined> {
  return (await api.get(longhornSettings, { namespace: longhornNamespace, name: 'node-drain-policy' })).value
}

describe('longhorn-drain that holds', () => {
  it('a node before it is cordoned, until its replicas have moved; the drain ends by itself, and all is as before then', async () => {
    const fixture = await openOperatedLonghorn({ volumes: [pair], timings: slowly }, stricter)
    const { controls, cordon, evict, guarded, held, placesOf, seconds, until, close } = fixture
    await controls.attach('db', 'node-2')
    await seconds(5)
    expect(await held()).toEqual(['node-1', 'node-2'])
    await cordon('node-1')
    await seconds(2)
    expect(await evict('node-1')).toBe('refused')
    expect(await policyOf(fixture)).toBe('block-for-eviction')
    await until(async () => (await placesOf('db')).join() === 'node-2,node-3')
    await until(async () => (await evict('node-1')) === 'going', 40)
    await cordon('node-1', false)
    await until(async () => (await guarded()).includes('node-1'), 60)
    await seconds(5)
    expect(await policyOf(fixture)).toBe('block-if-contains-last-replica')
    expect(await held()).toEqual(['node-2', 'node-3'])
    expect(controls.verify('db').isIntact).toBe(true)
    expect(fixture.warned).toEqual([])
    await close()
  })

  it('nothing where Longhorn holds it for the same reason: a second budget would turn a refusal into an error', async () => {
    const fixture = await openOperatedLonghorn({ volumes: [single, { ...pair, placedOn: ['node-2', 'node-3'] }] })
    const { controls, cordon, evict, guarded, held, placesOf, seconds, told, close } = fixture
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
    expect([await evict('node-2'), await held()]).toEqual(['going', []])
    await close()
  })

  it('a node that Longhorn has let go and that has the last copy by now: of the only two copies never both may go', async () => {
    const fixture = await openOperatedLonghorn({ volumes: [pair] })
    const { api, controls, cordon, guarded, held, list, seconds, close } = fixture
    await controls.attach('db', 'node-3')
    await seconds(10)
    await cordon('node-1')
    await seconds(5)
    expect(await guarded()).toEqual(['node-2', 'node-3'])
    await cordon('node-2')
    // As where its managers decide on what each has heard: Longhorn lets the other one go too.
    const [last] = (await list(podDisruptionBudgets)).filter(
      ({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node'] === 'node-2',
    )
    await api.delete(podDisruptionBudgets, { namespace: longhornNamespace, name: last?.metadata.name ?? '' })
    await seconds(2)
    expect((await held()).length).toBeGreaterThanOrEqual(1)
    await close()
  })

  it('asks the server before it lets go: a copy that failed unheard protects nothing', async () => {
    let isDeaf = false
    const fixture = await openOperatedLonghorn(
      {
        volumes: [{ ...pair, labels: { 'cofferdam.io/node-drain-policy': 'block-for-eviction' } }],
        settings: { 'node-drain-policy': 'always-allow' },
        timings: { rebuildBytesPerSecond: 1 },
      },
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
    const { api, controls, cordon, held, seconds, close } = fixture
    await controls.attach('db', 'node-2')
    await seconds(10)
    await controls.detach('db')
    await cordon('node-1')
    await seconds(10)
    expect(await held()).toContain('node-1')
    isDeaf = true
    const failed = { namespace: longhornNamespace, name: await replicaOn(fixture, 'db', 'node-2') }
    await api.patch(longhornReplicas, failed, {
      type: 'merge',
      body: { spec: { failedAt: '2026-01-01T00:00:00Z', healthyAt: '' } },
    })
    const labels = { 'cofferdam.io/node-drain-policy': 'block-if-contains-last-replica' }
    const key = { namespace: longhornNamespace, name: 'db' }
    await api.patch(longhornVolumes, key, { type: 'merge', body: { metadata: { labels } } })
    await seconds(30)
    expect(await held()).toContain('node-1')
    await close()
  })

  it('writes nothing while nothing changes', async () => {
    const fixture = await openOperatedLonghorn({ volumes: [pair, single] }, stricter)
    await fixture.cordon('node-1')
    await fixture.seconds(120)
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
    const { controls, cordon, eventsAbout, held, list, seconds, close } = fixture
    await controls.attach('solo', 'node-3')
    await seconds(10)
    expect(await eventsAbout('node-drain-policy')).toEqual([
      expect.stringMatching(/^Warning ObjectsUnusable x1: setting\/node-drain-policy: "block-everything" is none of/),
    ])
    await cordon('node-1')
    await seconds(120)
    expect(await held()).toEqual(['node-1'])
    expect((await list(longhornReplicas)).some(({ spec }) => spec?.evictionRequested === true)).toBe(false)
    await close()
  })

  it('what Longhorn holds is an event on the node and on the budget that kubectl describe shows, once: it was on an object where few look', async () => {
    const fixture = await openOperatedLonghorn({
      volumes: [single],
      settings: { 'node-drain-policy': 'block-if-contains-last-replica' },
    })
    const { controls, cordon, list, seconds, close } = fixture
    await controls.attach('solo', 'node-3')
    await cordon('node-1')
    await seconds(300)
    const told = (await list(events)).filter(({ reason }) => reason === 'LastReplica')
    expect(
      told.map(({ involvedObject: { apiVersion, kind }, count }) => `${apiVersion} ${kind} x${count}`).sort(),
    ).toEqual(['policy/v1 PodDisruptionBudget x1', 'v1 Node x1'])
    await close()
  })

  it('never touches a budget of another client, not even one with the name of ours, and then lets none go', async () => {
    const fixture = await openOperatedLonghorn(
      { volumes: [pair] },
      { isOurs: false, notes: { 'wanted-policy': 'block-for-eviction' } },
    )
    const { api, annotate, eventsAbout, held, list, seconds, close } = fixture
    const [theirs] = (await list(podDisruptionBudgets)).filter(
      ({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node'] === 'node-1',
    )
    const key = { namespace: longhornNamespace, name: `cofferdam-hold-${theirs?.metadata.name}` }
    const foreign = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: key,
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    }
    await api.create(podDisruptionBudgets, foreign)
    await annotate('hold')
    await seconds(10)
    expect(await held()).toEqual(['', 'node-2'])
    expect((await api.get(podDisruptionBudgets, key)).spec).toEqual(foreign.spec)
    expect(await eventsAbout('node-drain-policy')).toEqual([
      expect.stringContaining(`poddisruptionbudget/${key.name}: it has the name of a budget of Cofferdam`),
    ])
    await close()
  })
})

describe('longhorn-drain beside a Longhorn that nobody handed over', () => {
  it('only observes, until the setting is annotated, and takes back what it did once the annotation is gone', async () => {
    const fixture = await openOperatedLonghorn(
      { volumes: [pair] },
      { isOurs: false, notes: { 'wanted-policy': 'block-for-eviction' } },
    )
    const { annotate, cordon, guarded, held, seconds, written, close } = fixture
    await cordon('node-3')
    await seconds(60)
    expect(written).toEqual([])
    await annotate('hold')
    await seconds(5)
    expect(await held()).toEqual(['node-1', 'node-2'])
    await annotate(null)
    await seconds(5)
    expect([await held(), await policyOf(fixture)]).toEqual([[], 'block-if-contains-last-replica'])
    const before = [...written]
    await cordon('node-1')
    await seconds(120)
    expect(written).toEqual(before)
    expect(await guarded()).toEqual(['node-2'])
    await close()
  })
})
