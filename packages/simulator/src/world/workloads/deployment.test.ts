import type { Deployment, ReplicaSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { deployments, pods, replicaSets } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { isReady, isTerminating } from '../pod-facts.ts'
import { container, deployment, inDefault, openWorld, type Scenario } from '../testing/scenario.ts'

const revision = 'deployment.kubernetes.io/revision'

async function change(scenario: Scenario, name: string, spec: JsonObject): Promise<void> {
  await scenario.api.patch(deployments, inDefault(name), { type: 'strategic', body: { spec } })
}

function image(tag: string): JsonObject {
  return { template: { spec: { containers: [{ name: container.name, image: `registry.example/app:${tag}` }] } } }
}

async function sizes(scenario: Scenario): Promise<Record<string, number>> {
  const sets = await scenario.list(replicaSets)
  return Object.fromEntries(sets.map((set) => [set.metadata.annotations?.[revision] ?? '?', set.spec.replicas ?? 1]))
}

function get(scenario: Scenario): Promise<Deployment> {
  return scenario.api.get(deployments, inDefault('web'))
}

describe('a Deployment', () => {
  it('gets one ReplicaSet with the hash of its template in name, selector and pods', async () => {
    const scenario = await openWorld()
    await scenario.api.create(deployments, deployment('web', { replicas: 2 }))
    await scenario.seconds(10)
    const [set] = (await scenario.list(replicaSets)) as [ReplicaSet]
    const hash = set.metadata.labels?.['pod-template-hash']
    expect({ name: set.metadata.name, selector: set.spec.selector, annotations: set.metadata.annotations }).toEqual({
      name: `web-${hash}`,
      selector: { matchLabels: { app: 'web', 'pod-template-hash': hash } },
      annotations: {
        [revision]: '1',
        'deployment.kubernetes.io/desired-replicas': '2',
        'deployment.kubernetes.io/max-replicas': '3',
      },
    })
    const { metadata, status } = await get(scenario)
    expect(metadata.annotations).toEqual({ [revision]: '1' })
    expect({
      ...status,
      conditions: status?.conditions?.map(({ type, status: is, reason }) => [type, is, reason]),
    }).toEqual({
      observedGeneration: metadata.generation,
      replicas: 2,
      updatedReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      conditions: [
        ['Available', 'True', 'MinimumReplicasAvailable'],
        ['Progressing', 'True', 'NewReplicaSetAvailable'],
      ],
    })
    scenario.stop()
  })

  it('rolls to a new template without ever going below or above its margins', async () => {
    const scenario = await openWorld()
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } as const
    await scenario.api.create(deployments, deployment('web', { replicas: 4, strategy }))
    await scenario.seconds(10)
    await change(scenario, 'web', image('2'))
    const seen = { leastReady: 4, mostPods: 4 }
    for (let step = 0; step < 200; step += 1) {
      await scenario.clock.advance(100)
      const living = (await scenario.podsOf('web')).filter((pod) => !isTerminating(pod))
      seen.leastReady = Math.min(seen.leastReady, living.filter(isReady).length)
      seen.mostPods = Math.max(seen.mostPods, living.length)
    }
    expect(seen).toEqual({ leastReady: 3, mostPods: 5 })
    expect(await sizes(scenario)).toEqual({ 1: 0, 2: 4 })
    expect(new Set((await scenario.podsOf('web')).map(({ spec }) => spec.containers[0]?.image))).toEqual(
      new Set(['registry.example/app:2']),
    )
    scenario.stop()
  })

  it('goes back to an old template by the ReplicaSet it left, which becomes the latest revision', async () => {
    const scenario = await openWorld()
    await scenario.api.create(deployments, deployment('web', { replicas: 2 }))
    await scenario.seconds(10)
    await change(scenario, 'web', image('2'))
    await scenario.seconds(20)
    await change(scenario, 'web', image('1'))
    await scenario.seconds(20)
    expect(await sizes(scenario)).toEqual({ 2: 0, 3: 2 })
    const current = (await scenario.list(replicaSets)).find(({ spec }) => spec.replicas === 2)
    expect(current?.metadata.annotations?.['deployment.kubernetes.io/revision-history']).toBe('1')
    expect((await get(scenario)).metadata.annotations?.[revision]).toBe('3')
    scenario.stop()
  })

  it('with Recreate starts the new pods only after the last old one has gone', async () => {
    const scenario = await openWorld()
    await scenario.api.create(deployments, deployment('web', { replicas: 2, strategy: { type: 'Recreate' } }))
    await scenario.seconds(10)
    await change(scenario, 'web', image('2'))
    let mixed = false
    for (let step = 0; step < 100; step += 1) {
      await scenario.clock.advance(100)
      mixed ||= new Set((await scenario.podsOf('web')).map(({ spec }) => spec.containers[0]?.image)).size > 1
    }
    expect({ mixed, sizes: await sizes(scenario), ready: (await get(scenario)).status?.readyReplicas }).toEqual({
      mixed: false,
      sizes: { 1: 0, 2: 2 },
      ready: 2,
    })
    scenario.stop()
  })

  it('while paused is scaled but does not roll, and rolls when it is resumed', async () => {
    const scenario = await openWorld()
    await scenario.api.create(deployments, deployment('web', { replicas: 2 }))
    await scenario.seconds(10)
    await change(scenario, 'web', { paused: true, ...image('2') })
    await scenario.seconds(5)
    await change(scenario, 'web', { replicas: 3 })
    await scenario.seconds(10)
    expect(await sizes(scenario)).toEqual({ 1: 3 })
    expect(conditionOf(await get(scenario), 'Progressing')?.reason).toBe('DeploymentPaused')
    await change(scenario, 'web', { paused: false })
    await scenario.seconds(20)
    expect(await sizes(scenario)).toEqual({ 1: 0, 2: 3 })
    scenario.stop()
  })

  it('shares a new size among old and new pods in the middle of a rollout', async () => {
    const scenario = await openWorld({ nodeCount: 3 })
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } } as const
    await scenario.api.create(deployments, deployment('web', { replicas: 8, strategy }))
    await scenario.seconds(10)
    const stuck = { metadata: { annotations: { 'cofferdam.io/ready-after-seconds': 'never' } } }
    await change(scenario, 'web', { template: stuck })
    await scenario.seconds(10)
    expect(await sizes(scenario)).toEqual({ 1: 8, 2: 2 })
    await change(scenario, 'web', { replicas: 16 })
    await scenario.seconds(10)
    expect(await sizes(scenario)).toEqual({ 1: 14, 2: 4 })
    scenario.stop()
  })

  it('that does not get on says so after its deadline, as kubectl rollout status expects', async () => {
    const scenario = await openWorld()
    await scenario.api.create(deployments, deployment('web', { progressDeadlineSeconds: 60 }))
    await scenario.seconds(10)
    await change(scenario, 'web', {
      template: { metadata: { annotations: { 'cofferdam.io/ready-after-seconds': 'never' } } },
    })
    await scenario.seconds(50)
    expect(conditionOf(await get(scenario), 'Progressing')?.status).toBe('True')
    await scenario.seconds(40)
    const { status, reason } = conditionOf(await get(scenario), 'Progressing') ?? {}
    expect({ status, reason, available: conditionOf(await get(scenario), 'Available')?.status }).toEqual({
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      available: 'True',
    })
    scenario.stop()
  })

  it('forgets the oldest ReplicaSets beyond its history limit', async () => {
    const scenario = await openWorld()
    await scenario.api.create(deployments, deployment('web', { replicas: 1, revisionHistoryLimit: 1 }))
    for (const tag of ['2', '3', '4']) {
      await scenario.seconds(20)
      await change(scenario, 'web', image(tag))
    }
    await scenario.seconds(20)
    expect(await sizes(scenario)).toEqual({ 3: 0, 4: 1 })
    scenario.stop()
  })

  it('waits for minReadySeconds before a pod counts as available', async () => {
    const scenario = await openWorld()
    await scenario.api.create(deployments, deployment('web', { replicas: 1, minReadySeconds: 30 }))
    await scenario.seconds(10)
    const early = (await get(scenario)).status
    await scenario.seconds(30)
    const late = (await get(scenario)).status
    expect([early?.readyReplicas, early?.availableReplicas, late?.availableReplicas]).toEqual([1, undefined, 1])
    scenario.stop()
  })

  it('takes its ReplicaSets and pods with it when it is deleted', async () => {
    const scenario = await openWorld()
    await scenario.api.create(deployments, deployment('web'))
    await scenario.seconds(10)
    await scenario.api.delete(deployments, inDefault('web'), { propagationPolicy: 'Background' })
    await scenario.seconds(10)
    expect([await scenario.list(replicaSets), await scenario.list(pods)]).toEqual([[], []])
    scenario.stop()
  })

  it('settles: a cluster at rest writes no Deployment, ReplicaSet or pod any more', async () => {
    const scenario = await openWorld()
    await scenario.api.create(deployments, deployment('web'))
    await scenario.seconds(30)
    const versions = async () =>
      [
        ...(await scenario.list(deployments)),
        ...(await scenario.list(replicaSets)),
        ...(await scenario.list(pods)),
      ].map(({ metadata }) => metadata.resourceVersion)
    const before = await versions()
    await scenario.seconds(600)
    expect(await versions()).toEqual(before)
    expect(scenario.failures).toEqual([])
    scenario.stop()
  })
})
