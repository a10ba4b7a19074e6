import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { pods, statefulSets } from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumeClaims } from '@cofferdam/kubernetes/api/storage.ts'
import { describe, expect, it } from 'vitest'
import { isReady } from '../pod-facts.ts'
import { container, inDefault, openWorld, type Story, statefulSet } from '../testing/story.ts'
import { controllerRevisions } from './controller-revisions.ts'

async function change(story: Story, spec: JsonObject): Promise<void> {
  await story.api.patch(statefulSets, inDefault('db'), { type: 'strategic', body: { spec } })
}

function image(tag: string): JsonObject {
  return { template: { spec: { containers: [{ name: container.name, image: `registry.example/app:${tag}` }] } } }
}

async function images(story: Story): Promise<Record<string, string>> {
  const all = await story.podsOf('db')
  return Object.fromEntries(
    all.map(({ metadata, spec }) => [metadata.name, spec.containers[0]?.image?.split(':')[1] ?? '']),
  )
}

describe('a StatefulSet', () => {
  it('creates its pods in order, each after the one before is ready, with stable names', async () => {
    const story = await openWorld()
    await story.api.create(
      statefulSets,
      statefulSet('db', { annotations: { 'cofferdam.io/ready-after-seconds': '5' } }),
    )
    const seen: string[] = []
    for (let step = 0; step < 20; step += 1) {
      const line = (await story.podsOf('db')).map((pod) => pod.metadata.name + (isReady(pod) ? '+' : '-')).join(' ')
      if (seen.at(-1) !== line) seen.push(line)
      await story.seconds(1)
    }
    expect(seen).toEqual(['', 'db-0-', 'db-0+ db-1-', 'db-0+ db-1+ db-2-', 'db-0+ db-1+ db-2+'])
    const pod = await story.api.get(pods, inDefault('db-1'))
    const { status } = await story.api.get(statefulSets, inDefault('db'))
    expect({ labels: pod.metadata.labels, hostname: pod.spec.hostname, subdomain: pod.spec.subdomain }).toEqual({
      labels: {
        app: 'db',
        'apps.kubernetes.io/pod-index': '1',
        'controller-revision-hash': status?.currentRevision,
        'statefulset.kubernetes.io/pod-name': 'db-1',
      },
      hostname: 'db-1',
      subdomain: 'db',
    })
    expect(status).toEqual({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      currentRevision: status?.updateRevision,
      updateRevision: status?.updateRevision,
      collisionCount: 0,
    })
    story.stop()
  })

  it('creates all at once when it is Parallel', async () => {
    const story = await openWorld()
    await story.api.create(statefulSets, statefulSet('db', { podManagementPolicy: 'Parallel' }))
    await story.seconds(1)
    expect((await story.podsOf('db')).map(({ metadata }) => metadata.name)).toEqual(['db-0', 'db-1', 'db-2'])
    story.stop()
  })

  it('brings a deleted pod back under its name, and not before the old one has gone', async () => {
    const story = await openWorld()
    await story.api.create(statefulSets, statefulSet('db'))
    await story.seconds(15)
    const before = await story.api.get(pods, inDefault('db-1'))
    await story.api.delete(pods, inDefault('db-1'))
    await story.seconds(1)
    const during = await story.api.get(pods, inDefault('db-1'))
    await story.seconds(10)
    const after = await story.api.get(pods, inDefault('db-1'))
    expect(during.metadata.uid).toBe(before.metadata.uid)
    expect(after.metadata.uid).not.toBe(before.metadata.uid)
    expect(isReady(after)).toBe(true)
    story.stop()
  })

  it('replaces its pods from the last to the first, down to its partition', async () => {
    const story = await openWorld()
    await story.api.create(statefulSets, statefulSet('db'))
    await story.seconds(15)
    await change(story, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } }, ...image('2') })
    await story.seconds(30)
    expect(await images(story)).toEqual({ 'db-0': '1', 'db-1': '1', 'db-2': '2' })
    await story.api.delete(pods, inDefault('db-0'))
    await story.seconds(10)
    expect(await images(story)).toEqual({ 'db-0': '1', 'db-1': '1', 'db-2': '2' })
    await change(story, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } })
    await story.seconds(30)
    expect(await images(story)).toEqual({ 'db-0': '2', 'db-1': '2', 'db-2': '2' })
    const { status } = await story.api.get(statefulSets, inDefault('db'))
    expect(status?.currentRevision).toBe(status?.updateRevision)
    expect((await story.list(controllerRevisions)).map(({ revision }) => revision).sort((a, b) => a - b)).toEqual([
      1, 2,
    ])
    story.stop()
  })

  it('with OnDelete changes a pod only when somebody deletes it', async () => {
    const story = await openWorld()
    await story.api.create(statefulSets, statefulSet('db', { updateStrategy: { type: 'OnDelete' } }))
    await story.seconds(15)
    await change(story, image('2'))
    await story.seconds(20)
    expect(await images(story)).toEqual({ 'db-0': '1', 'db-1': '1', 'db-2': '1' })
    await story.api.delete(pods, inDefault('db-0'))
    await story.seconds(10)
    expect(await images(story)).toEqual({ 'db-0': '2', 'db-1': '1', 'db-2': '1' })
    story.stop()
  })

  it('gives up the highest numbers first when it shrinks, one after the other', async () => {
    const story = await openWorld()
    await story.api.create(statefulSets, statefulSet('db', { replicas: 4 }))
    await story.seconds(20)
    await change(story, { replicas: 1 })
    const seen: string[] = []
    for (let step = 0; step < 100; step += 1) {
      const living = (await story.podsOf('db')).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      const line = living.map(({ metadata }) => metadata.name).join(' ')
      if (seen.at(-1) !== line) seen.push(line)
      await story.clock.advance(100)
    }
    expect(seen).toEqual(['db-0 db-1 db-2 db-3', 'db-0 db-1 db-2', 'db-0 db-1', 'db-0'])
    story.stop()
  })

  it('makes a claim for each pod that outlives the pod', async () => {
    const story = await openWorld()
    const volumeClaimTemplates = [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ]
    const set = statefulSet('db', { replicas: 1 })
    await story.api.create(statefulSets, { ...set, spec: { ...set.spec, volumeClaimTemplates } } as typeof set)
    await story.seconds(10)
    await story.api.delete(pods, inDefault('db-0'))
    await story.seconds(10)
    const pod = await story.api.get(pods, inDefault('db-0'))
    expect(pod.spec.volumes?.filter(({ name }) => name === 'data')).toEqual([
      { name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } },
    ])
    expect((await story.list(persistentVolumeClaims)).map(({ metadata }) => metadata.name)).toEqual(['data-db-0'])
    story.stop()
  })
})
