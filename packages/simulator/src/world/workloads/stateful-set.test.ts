import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { pods, statefulSets } from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumeClaims } from '@cofferdam/kubernetes/api/storage.ts'
import { describe, expect, it } from 'vitest'
import { isReady } from '../pod-facts.ts'
import { container, inDefault, openWorld, type Scenario, statefulSet } from '../testing/scenario.ts'
import { controllerRevisions } from './controller-revisions.ts'

async function change(scenario: Scenario, spec: JsonObject): Promise<void> {
  await scenario.api.patch(statefulSets, inDefault('db'), { type: 'strategic', body: { spec } })
}

function image(tag: string): JsonObject {
  return { template: { spec: { containers: [{ name: container.name, image: `registry.example/app:${tag}` }] } } }
}

async function images(scenario: Scenario): Promise<Record<string, string>> {
  const all = await scenario.podsOf('db')
  return Object.fromEntries(
    all.map(({ metadata, spec }) => [metadata.name, spec.containers[0]?.image?.split(':')[1] ?? '']),
  )
}

describe('a StatefulSet', () => {
  it('creates its pods in order, each after the one before is ready, with stable names', async () => {
    const scenario = await openWorld()
    await scenario.api.create(
      statefulSets,
      statefulSet('db', { annotations: { 'cofferdam.io/ready-after-seconds': '5' } }),
    )
    const seen: string[] = []
    for (let step = 0; step < 20; step += 1) {
      const line = (await scenario.podsOf('db')).map((pod) => pod.metadata.name + (isReady(pod) ? '+' : '-')).join(' ')
      if (seen.at(-1) !== line) seen.push(line)
      await scenario.seconds(1)
    }
    expect(seen).toEqual(['', 'db-0-', 'db-0+ db-1-', 'db-0+ db-1+ db-2-', 'db-0+ db-1+ db-2+'])
    const pod = await scenario.api.get(pods, inDefault('db-1'))
    const { status } = await scenario.api.get(statefulSets, inDefault('db'))
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
    scenario.stop()
  })

  it('creates all at once when it is Parallel', async () => {
    const scenario = await openWorld()
    await scenario.api.create(statefulSets, statefulSet('db', { podManagementPolicy: 'Parallel' }))
    await scenario.seconds(1)
    expect((await scenario.podsOf('db')).map(({ metadata }) => metadata.name)).toEqual(['db-0', 'db-1', 'db-2'])
    scenario.stop()
  })

  it('brings a deleted pod back under its name, and not before the old one has gone', async () => {
    const scenario = await openWorld()
    await scenario.api.create(statefulSets, statefulSet('db'))
    await scenario.seconds(15)
    const before = await scenario.api.get(pods, inDefault('db-1'))
    await scenario.api.delete(pods, inDefault('db-1'))
    await scenario.seconds(1)
    const during = await scenario.api.get(pods, inDefault('db-1'))
    await scenario.seconds(10)
    const after = await scenario.api.get(pods, inDefault('db-1'))
    expect(during.metadata.uid).toBe(before.metadata.uid)
    expect(after.metadata.uid).not.toBe(before.metadata.uid)
    expect(isReady(after)).toBe(true)
    scenario.stop()
  })

  it('replaces its pods from the last to the first, down to its partition', async () => {
    const scenario = await openWorld()
    await scenario.api.create(statefulSets, statefulSet('db'))
    await scenario.seconds(15)
    await change(scenario, {
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
      ...image('2'),
    })
    await scenario.seconds(30)
    expect(await images(scenario)).toEqual({ 'db-0': '1', 'db-1': '1', 'db-2': '2' })
    await scenario.api.delete(pods, inDefault('db-0'))
    await scenario.seconds(10)
    expect(await images(scenario)).toEqual({ 'db-0': '1', 'db-1': '1', 'db-2': '2' })
    await change(scenario, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } })
    await scenario.seconds(30)
    expect(await images(scenario)).toEqual({ 'db-0': '2', 'db-1': '2', 'db-2': '2' })
    const { status } = await scenario.api.get(statefulSets, inDefault('db'))
    expect(status?.currentRevision).toBe(status?.updateRevision)
    expect((await scenario.list(controllerRevisions)).map(({ revision }) => revision).sort((a, b) => a - b)).toEqual([
      1, 2,
    ])
    scenario.stop()
  })

  it('with OnDelete changes a pod only when somebody deletes it', async () => {
    const scenario = await openWorld()
    await scenario.api.create(statefulSets, statefulSet('db', { updateStrategy: { type: 'OnDelete' } }))
    await scenario.seconds(15)
    await change(scenario, image('2'))
    await scenario.seconds(20)
    expect(await images(scenario)).toEqual({ 'db-0': '1', 'db-1': '1', 'db-2': '1' })
    await scenario.api.delete(pods, inDefault('db-0'))
    await scenario.seconds(10)
    expect(await images(scenario)).toEqual({ 'db-0': '2', 'db-1': '1', 'db-2': '1' })
    scenario.stop()
  })

  it('gives up the highest numbers first when it shrinks, one after the other', async () => {
    const scenario = await openWorld()
    await scenario.api.create(statefulSets, statefulSet('db', { replicas: 4 }))
    await scenario.seconds(20)
    await change(scenario, { replicas: 1 })
    const seen: string[] = []
    for (let step = 0; step < 100; step += 1) {
      const living = (await scenario.podsOf('db')).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      const line = living.map(({ metadata }) => metadata.name).join(' ')
      if (seen.at(-1) !== line) seen.push(line)
      await scenario.clock.advance(100)
    }
    expect(seen).toEqual(['db-0 db-1 db-2 db-3', 'db-0 db-1 db-2', 'db-0 db-1', 'db-0'])
    scenario.stop()
  })

  it('makes a claim for each pod that outlives the pod', async () => {
    const scenario = await openWorld()
    const volumeClaimTemplates = [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ]
    const set = statefulSet('db', { replicas: 1 })
    await scenario.api.create(statefulSets, { ...set, spec: { ...set.spec, volumeClaimTemplates } } as typeof set)
    await scenario.seconds(10)
    await scenario.api.delete(pods, inDefault('db-0'))
    await scenario.seconds(10)
    const pod = await scenario.api.get(pods, inDefault('db-0'))
    expect(pod.spec.volumes?.filter(({ name }) => name === 'data')).toEqual([
      { name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } },
    ])
    expect((await scenario.list(persistentVolumeClaims)).map(({ metadata }) => metadata.name)).toEqual(['data-db-0'])
    scenario.stop()
  })
})
