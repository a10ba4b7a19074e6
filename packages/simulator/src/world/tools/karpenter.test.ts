import { nodeClaims } from '@cofferdam/kubernetes/api/kinds/karpenter.ts'
import { deployments, nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { budget, deployment, openWorld } from '../testing/scenario.ts'
import { type Karpenter, startKarpenter } from './karpenter.ts'
import { type KarpenterSeed, seedKarpenter } from './testing/seed-karpenter.ts'

type Fixture = Awaited<ReturnType<typeof openWorld>> & { readonly karpenter: Karpenter }

let fixture: Fixture
afterEach(() => {
  fixture.karpenter.stop()
  fixture.stop()
})

/** Three nodes, of which the second is Karpenter's. */
async function open(seed: Partial<KarpenterSeed> = {}): Promise<Fixture> {
  const world = await openWorld({ nodeCount: 3, kubelet: { readySeconds: 1, terminationSeconds: 2 } })
  const { api, clock, random, failures } = world
  await seedKarpenter(api, { nodes: ['node-2'], ...seed })
  const ports = { api, clock, random, views: world.world.views, kubelet: world.world.kubelet }
  const karpenter = startKarpenter({ ...ports, onFailure: (failure) => failures.push(failure) })
  fixture = { ...world, karpenter }
  return fixture
}

const pinned = { nodeSelector: { 'kubernetes.io/hostname': 'node-2' } }

/** One pod on node-2 whose budget never lets it go. */
async function addHeldPod(): Promise<void> {
  const { api, seconds } = fixture
  await api.create(deployments, deployment('db', { replicas: 1, pod: pinned }))
  await api.create(podDisruptionBudgets, budget('db', { maxUnavailable: 0 }))
  await seconds(5)
}

const nodeNames = async () => (await fixture.list(nodes)).map(({ metadata }) => metadata.name)
const deleteClaim = () => fixture.api.delete(nodeClaims, { name: 'claim-node-2' })

describe('an empty node', () => {
  it('is tainted, and gone with its machine and its claim', async () => {
    const { seconds, karpenter, list, failures } = await open()
    await seconds(120)
    expect([await nodeNames(), karpenter.removed()]).toEqual([['node-1', 'node-3'], ['node-2']])
    expect(await list(nodeClaims)).toEqual([])
    expect(failures).toEqual([])
  })

  it('is left alone while its annotation says so', async () => {
    const { api, seconds, karpenter } = await open()
    const body = { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } }
    await api.patch(nodes, { name: 'node-2' }, { type: 'merge', body })
    await seconds(600)
    expect(karpenter.removed()).toEqual([])
  })

  it('is left alone while the budget of its pool allows no node', async () => {
    const { seconds, karpenter } = await open({ budgets: [{ nodes: '0' }] })
    await seconds(600)
    expect(karpenter.removed()).toEqual([])
  })
})

describe('a node that has expired', () => {
  it('goes whatever its annotation and the budget of its pool say', async () => {
    const { api, seconds, karpenter } = await open({ budgets: [{ nodes: '0' }], expireAfter: '5m' })
    const body = { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } }
    await api.patch(nodes, { name: 'node-2' }, { type: 'merge', body })
    await seconds(280)
    expect(karpenter.removed()).toEqual([])
    await seconds(60)
    expect(karpenter.removed()).toEqual(['node-2'])
  })
})

describe('a claim that is deleted', () => {
  it('waits for the budgets of the pods for ever', async () => {
    const { seconds, karpenter, podsOf, api } = await open()
    await addHeldPod()
    await deleteClaim()
    await seconds(3_600)
    expect([karpenter.removed(), karpenter.deleted()]).toEqual([[], []])
    expect((await podsOf('db'))[0]?.metadata.deletionTimestamp).toBeUndefined()
    expect((await api.get(nodes, { name: 'node-2' })).spec?.taints?.map(({ key }) => key)).toContain(
      'karpenter.sh/disrupted',
    )
  })

  it('deletes pods without asking their budgets when its grace period ends, by their own grace period before that', async () => {
    const { seconds, karpenter } = await open({ terminationGracePeriod: '10m' })
    await addHeldPod()
    await deleteClaim()
    await seconds(560)
    expect(karpenter.deleted()).toEqual([])
    await seconds(60)
    expect(karpenter.deleted()).toHaveLength(1)
    expect(karpenter.removed()).toEqual(['node-2'])
  })
})
