import { deployments, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { budget, daemonSet, deployment, openWorld } from '../testing/scenario.ts'
import { type ClusterAutoscaler, type ClusterAutoscalerOptions, startClusterAutoscaler } from './cluster-autoscaler.ts'

type Fixture = Awaited<ReturnType<typeof openWorld>> & { readonly autoscaler: ClusterAutoscaler }

let fixture: Fixture
afterEach(() => {
  fixture.autoscaler.stop()
  fixture.stop()
})

/** Three nodes, of which the second and the third are in the node group. */
async function open(options: Partial<ClusterAutoscalerOptions> = {}): Promise<Fixture> {
  const world = await openWorld({ nodeCount: 3, kubelet: { readySeconds: 1, terminationSeconds: 2 } })
  const { api, clock, random, failures } = world
  const ports = { api, clock, random, views: world.world.views, kubelet: world.world.kubelet }
  const autoscaler = startClusterAutoscaler(
    { ...ports, onFailure: (failure) => failures.push(failure) },
    { group: ['node-2', 'node-3'], unneededSeconds: 60, ...options },
  )
  fixture = { ...world, autoscaler }
  return fixture
}

const annotate = (name: string, annotations: Record<string, string>) =>
  fixture.api.patch(nodes, { name }, { type: 'merge', body: { metadata: { annotations } } })
const pinned = (nodeName: string) => ({ nodeSelector: { 'kubernetes.io/hostname': nodeName } })
const taintsOf = async (name: string) => {
  const { spec } = await fixture.api.get(nodes, { name })
  return [spec?.unschedulable === true, ...(spec?.taints ?? []).map(({ key }) => key)]
}

describe('an empty node', () => {
  it('is deleted with its machine when it was not needed for long enough, and the group keeps its smallest size', async () => {
    const { seconds, autoscaler, list, failures } = await open()
    await seconds(60)
    expect(autoscaler.removed()).toEqual([])
    await seconds(40)
    expect(autoscaler.removed()).toEqual(['node-2'])
    await seconds(600)
    expect((await list(nodes)).map(({ metadata }) => metadata.name)).toEqual(['node-1', 'node-3'])
    expect(failures).toEqual([])
  })

  it('is left alone while its annotation says so', async () => {
    const { seconds, autoscaler } = await open({ group: ['node-2'], minSize: 0 })
    await annotate('node-2', { 'cluster-autoscaler.kubernetes.io/scale-down-disabled': 'true' })
    await seconds(900)
    expect(autoscaler.removed()).toEqual([])
  })

  it('that is cordoned is taken as well: a node that was drained for a reboot is one that is not needed', async () => {
    const { api, seconds, autoscaler } = await open({ group: ['node-2'], minSize: 0 })
    await api.patch(nodes, { name: 'node-2' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    await seconds(90)
    expect(autoscaler.removed()).toEqual(['node-2'])
  })
})

describe('a node with pods', () => {
  it('is drained first, and its pods run elsewhere', async () => {
    const { api, seconds, autoscaler, podsOf } = await open({ group: ['node-2'], minSize: 0 })
    await api.create(deployments, deployment('web', { replicas: 3 }))
    await seconds(120)
    expect(autoscaler.removed()).toEqual(['node-2'])
    const on = (await podsOf('web')).map(({ spec }) => spec.nodeName)
    expect(on).toHaveLength(3)
    expect(on).not.toContain('node-2')
  })

  it('is no candidate while a budget has no disruption left', async () => {
    const { api, seconds, autoscaler } = await open({ group: ['node-2'], minSize: 0 })
    await api.create(deployments, deployment('db', { replicas: 1, pod: pinned('node-2') }))
    await api.create(podDisruptionBudgets, budget('db', { maxUnavailable: 0 }))
    await seconds(900)
    expect([autoscaler.removed(), autoscaler.failures()]).toEqual([[], []])
  })

  it('whose pods do not end in time gets its taint off again, and loses its cordon, whoever had set that', async () => {
    const { api, seconds, autoscaler, podsOf } = await open({
      group: ['node-2'],
      minSize: 0,
      maxGracefulTerminationSeconds: 10,
    })
    await api.create(deployments, deployment('db', { replicas: 1, pod: pinned('node-2') }))
    await seconds(20)
    const [pod] = await podsOf('db')
    const body = { metadata: { finalizers: ['example.com/backup'] } }
    await api.patch(pods, { namespace: 'default', name: pod?.metadata.name ?? '' }, { type: 'merge', body })
    await api.patch(nodes, { name: 'node-2' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    await seconds(70)
    expect(await taintsOf('node-2')).toContain('ToBeDeletedByClusterAutoscaler')
    await seconds(60)
    expect([autoscaler.removed(), autoscaler.failures()]).toEqual([[], ['node-2: failed to drain']])
    expect(await taintsOf('node-2')).toEqual([false])
  })
})

it('pods of a DaemonSet keep no node, and go with its machine', async () => {
  const { api, seconds, autoscaler } = await open({ group: ['node-2'], minSize: 0 })
  const type = { group: 'apps', version: 'v1', plural: 'daemonsets', kind: 'DaemonSet', namespaced: true } as const
  await api.create(type, daemonSet('agent'))
  await seconds(120)
  expect(autoscaler.removed()).toEqual(['node-2'])
})
