import type { Deployment, ReplicaSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { deployments, pods, replicaSets } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { isReady, isTerminating } from '../pod-facts.ts'
import { container, deployment, inDefault, openWorld, type Story } from '../testing/story.ts'

const revision = 'deployment.kubernetes.io/revision'

async function change(story: Story, name: string, spec: JsonObject): Promise<void> {
  await story.api.patch(deployments, inDefault(name), { type: 'strategic', body: { spec } })
}

function image(tag: string): JsonObject {
  return { template: { spec: { containers: [{ name: container.name, image: `registry.example/app:${tag}` }] } } }
}

async function sizes(story: Story): Promise<Record<string, number>> {
  const sets = await story.list(replicaSets)
  return Object.fromEntries(sets.map((set) => [set.metadata.annotations?.[revision] ?? '?', set.spec.replicas ?? 1]))
}

function get(story: Story): Promise<Deployment> {
  return story.api.get(deployments, inDefault('web'))
}

describe('a Deployment', () => {
  it('gets one ReplicaSet with the hash of its template in name, selector and pods', async () => {
    const story = await openWorld()
    await story.api.create(deployments, deployment('web', { replicas: 2 }))
    await story.seconds(10)
    const [set] = (await story.list(replicaSets)) as [ReplicaSet]
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
    const { metadata, status } = await get(story)
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
    story.stop()
  })

  it('rolls to a new template without ever going below or above its margins', async () => {
    const story = await openWorld()
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } as const
    await story.api.create(deployments, deployment('web', { replicas: 4, strategy }))
    await story.seconds(10)
    await change(story, 'web', image('2'))
    const seen = { leastReady: 4, mostPods: 4 }
    for (let step = 0; step < 200; step += 1) {
      await story.clock.advance(100)
      const living = (await story.podsOf('web')).filter((pod) => !isTerminating(pod))
      seen.leastReady = Math.min(seen.leastReady, living.filter(isReady).length)
      seen.mostPods = Math.max(seen.mostPods, living.length)
    }
    expect(seen).toEqual({ leastReady: 3, mostPods: 5 })
    expect(await sizes(story)).toEqual({ 1: 0, 2: 4 })
    expect(new Set((await story.podsOf('web')).map(({ spec }) => spec.containers[0]?.image))).toEqual(
      new Set(['registry.example/app:2']),
    )
    story.stop()
  })

  it('goes back to an old template by the ReplicaSet it left, which becomes the latest revision', async () => {
    const story = await openWorld()
    await story.api.create(deployments, deployment('web', { replicas: 2 }))
    await story.seconds(10)
    await change(story, 'web', image('2'))
    await story.seconds(20)
    await change(story, 'web', image('1'))
    await story.seconds(20)
    expect(await sizes(story)).toEqual({ 2: 0, 3: 2 })
    const current = (await story.list(replicaSets)).find(({ spec }) => spec.replicas === 2)
    expect(current?.metadata.annotations?.['deployment.kubernetes.io/revision-history']).toBe('1')
    expect((await get(story)).metadata.annotations?.[revision]).toBe('3')
    story.stop()
  })

  it('with Recreate starts the new pods only after the last old one has gone', async () => {
    const story = await openWorld()
    await story.api.create(deployments, deployment('web', { replicas: 2, strategy: { type: 'Recreate' } }))
    await story.seconds(10)
    await change(story, 'web', image('2'))
    let mixed = false
    for (let step = 0; step < 100; step += 1) {
      await story.clock.advance(100)
      mixed ||= new Set((await story.podsOf('web')).map(({ spec }) => spec.containers[0]?.image)).size > 1
    }
    expect({ mixed, sizes: await sizes(story), ready: (await get(story)).status?.readyReplicas }).toEqual({
      mixed: false,
      sizes: { 1: 0, 2: 2 },
      ready: 2,
    })
    story.stop()
  })

  it('while paused is scaled but does not roll, and rolls when it is resumed', async () => {
    const story = await openWorld()
    await story.api.create(deployments, deployment('web', { replicas: 2 }))
    await story.seconds(10)
    await change(story, 'web', { paused: true, ...image('2') })
    await story.seconds(5)
    await change(story, 'web', { replicas: 3 })
    await story.seconds(10)
    expect(await sizes(story)).toEqual({ 1: 3 })
    expect(conditionOf(await get(story), 'Progressing')?.reason).toBe('DeploymentPaused')
    await change(story, 'web', { paused: false })
    await story.seconds(20)
    expect(await sizes(story)).toEqual({ 1: 0, 2: 3 })
    story.stop()
  })

  it('shares a new size among old and new pods in the middle of a rollout', async () => {
    const story = await openWorld({ nodeCount: 3 })
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } } as const
    await story.api.create(deployments, deployment('web', { replicas: 8, strategy }))
    await story.seconds(10)
    const stuck = { metadata: { annotations: { 'cofferdam.io/ready-after-seconds': 'never' } } }
    await change(story, 'web', { template: stuck })
    await story.seconds(10)
    expect(await sizes(story)).toEqual({ 1: 8, 2: 2 })
    await change(story, 'web', { replicas: 16 })
    await story.seconds(10)
    expect(await sizes(story)).toEqual({ 1: 14, 2: 4 })
    story.stop()
  })

  it('that does not get on says so after its deadline, as kubectl rollout status expects', async () => {
    const story = await openWorld()
    await story.api.create(deployments, deployment('web', { progressDeadlineSeconds: 60 }))
    await story.seconds(10)
    await change(story, 'web', {
      template: { metadata: { annotations: { 'cofferdam.io/ready-after-seconds': 'never' } } },
    })
    await story.seconds(50)
    expect(conditionOf(await get(story), 'Progressing')?.status).toBe('True')
    await story.seconds(40)
    const { status, reason } = conditionOf(await get(story), 'Progressing') ?? {}
    expect({ status, reason, available: conditionOf(await get(story), 'Available')?.status }).toEqual({
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      available: 'True',
    })
    story.stop()
  })

  it('forgets the oldest ReplicaSets beyond its history limit', async () => {
    const story = await openWorld()
    await story.api.create(deployments, deployment('web', { replicas: 1, revisionHistoryLimit: 1 }))
    for (const tag of ['2', '3', '4']) {
      await story.seconds(20)
      await change(story, 'web', image(tag))
    }
    await story.seconds(20)
    expect(await sizes(story)).toEqual({ 3: 0, 4: 1 })
    story.stop()
  })

  it('waits for minReadySeconds before a pod counts as available', async () => {
    const story = await openWorld()
    await story.api.create(deployments, deployment('web', { replicas: 1, minReadySeconds: 30 }))
    await story.seconds(10)
    const early = (await get(story)).status
    await story.seconds(30)
    const late = (await get(story)).status
    expect([early?.readyReplicas, early?.availableReplicas, late?.availableReplicas]).toEqual([1, undefined, 1])
    story.stop()
  })

  it('takes its ReplicaSets and pods with it when it is deleted', async () => {
    const story = await openWorld()
    await story.api.create(deployments, deployment('web'))
    await story.seconds(10)
    await story.api.delete(deployments, inDefault('web'), { propagationPolicy: 'Background' })
    await story.seconds(10)
    expect([await story.list(replicaSets), await story.list(pods)]).toEqual([[], []])
    story.stop()
  })

  it('settles: a cluster at rest writes no Deployment, ReplicaSet or pod any more', async () => {
    const story = await openWorld()
    await story.api.create(deployments, deployment('web'))
    await story.seconds(30)
    const versions = async () =>
      [...(await story.list(deployments)), ...(await story.list(replicaSets)), ...(await story.list(pods))].map(
        ({ metadata }) => metadata.resourceVersion,
      )
    const before = await versions()
    await story.seconds(600)
    expect(await versions()).toEqual(before)
    expect(story.failures).toEqual([])
    story.stop()
  })
})
