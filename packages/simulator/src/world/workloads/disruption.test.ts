import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import {
  customResourceDefinitions,
  deployments,
  podDisruptionBudgets,
  pods,
  statefulSets,
} from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { describe, expect, it } from 'vitest'
import { barePod, budget, deployment, inDefault, openWorld, type Story, statefulSet } from '../testing/story.ts'

async function counts(story: Story, name = 'web') {
  const { status } = await story.api.get(podDisruptionBudgets, inDefault(name))
  return [status?.expectedPods, status?.desiredHealthy, status?.currentHealthy, status?.disruptionsAllowed]
}

function get(story: Story): Promise<PodDisruptionBudget> {
  return story.api.get(podDisruptionBudgets, inDefault('web'))
}

async function firstPod(story: Story): Promise<{ namespace: string; name: string }> {
  const [pod] = (await story.podsOf('web')) as [Pod]
  return { namespace: 'default', name: pod.metadata.name }
}

describe('the disruption controller', () => {
  it('follows pods, the scale of their controller and the spec of the budget', async () => {
    const story = await openWorld()
    await story.api.create(deployments, deployment('web', { replicas: 3 }))
    await story.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: '50%' }))
    await story.seconds(10)
    expect(await counts(story)).toEqual([3, 1, 3, 2])
    await story.api.patch(deployments, inDefault('web'), { type: 'merge', body: { spec: { replicas: 5 } } })
    await story.clock.advance(100)
    expect(await counts(story)).toEqual([5, 2, 3, 1])
    await story.seconds(10)
    expect(await counts(story)).toEqual([5, 2, 5, 3])
    await story.api.patch(podDisruptionBudgets, inDefault('web'), {
      type: 'merge',
      body: { spec: { maxUnavailable: null, minAvailable: 5 } },
    })
    await story.seconds(1)
    expect(await counts(story)).toEqual([5, 5, 5, 0])
    expect((await get(story)).status?.observedGeneration).toBe(2)
    story.stop()
  })

  it('lets one eviction pass, refuses the second at once, and frees the budget when the pod is back', async () => {
    const story = await openWorld()
    await story.api.create(deployments, deployment('web', { replicas: 3 }))
    await story.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
    await story.seconds(10)
    const [a, b] = (await story.podsOf('web')) as [Pod, Pod]
    const evict = ({ metadata }: Pod) => evictPod(story.api, { namespace: 'default', name: metadata.name })
    await evict(a)
    await expect(evict(b)).rejects.toMatchObject({ code: 429, reason: 'TooManyRequests' })
    await story.seconds(1)
    await expect(evict(b)).rejects.toMatchObject({ code: 429 })
    await story.seconds(10)
    expect(await counts(story)).toEqual([3, 2, 3, 1])
    await evict(b)
    story.stop()
  })

  it('lags as long as it is told to', async () => {
    const story = await openWorld({ disruption: { lagMs: 5_000 } })
    await story.api.create(deployments, deployment('web', { replicas: 3 }))
    await story.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
    await story.seconds(4)
    expect((await get(story)).status?.observedGeneration ?? 0).toBe(0)
    await expect(evictPod(story.api, await firstPod(story))).rejects.toMatchObject({ code: 429 })
    await story.seconds(10)
    expect(await counts(story)).toEqual([3, 2, 3, 1])
    story.stop()
  })

  it('takes a granted eviction that never came back after two minutes, and says so', async () => {
    const story = await openWorld()
    await story.api.create(deployments, deployment('web', { replicas: 3 }))
    await story.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
    await story.seconds(10)
    const held = await get(story)
    const { name } = await firstPod(story)
    const disruptedPods = { [name]: new Date(story.clock.now()).toISOString() }
    const status = { ...held.status, disruptionsAllowed: 0, disruptedPods } as NonNullable<
      PodDisruptionBudget['status']
    >
    await story.api.update(podDisruptionBudgets, { ...held, status }, { subresource: 'status' })
    await story.seconds(90)
    expect(await counts(story)).toEqual([3, 2, 2, 0])
    await story.seconds(40)
    expect(await counts(story)).toEqual([3, 2, 3, 1])
    expect(await story.eventsAbout(name)).toContain(
      "Warning NotDeleted x1: Pod was expected by PDB default/web to be deleted but it wasn't",
    )
    story.stop()
  })

  it('expects no bare pods under a percentage, which blocks for ever, but counts them under a number', async () => {
    const story = await openWorld()
    for (const name of ['a', 'b']) await story.api.create(pods, barePod(name, { labels: { app: 'web' } }))
    await story.api.create(podDisruptionBudgets, budget('web', { minAvailable: '50%' }))
    await story.seconds(10)
    expect(await counts(story)).toEqual([0, 0, 2, 0])
    expect((await story.eventsAbout('web')).some((line) => line.startsWith('Warning UnmanagedPods'))).toBe(true)
    await story.api.patch(podDisruptionBudgets, inDefault('web'), {
      type: 'merge',
      body: { spec: { minAvailable: 1 } },
    })
    await story.seconds(1)
    expect(await counts(story)).toEqual([2, 1, 2, 1])
    story.stop()
  })

  it('adds up all controllers whose pods the selector takes', async () => {
    const story = await openWorld()
    await story.api.create(deployments, deployment('web', { replicas: 2 }))
    await story.api.create(statefulSets, statefulSet('db', { replicas: 3 }))
    const all = { selector: { matchExpressions: [{ key: 'app', operator: 'Exists' as const }] } }
    await story.api.create(podDisruptionBudgets, budget('web', { ...all, maxUnavailable: 1 }))
    await story.seconds(20)
    expect(await counts(story)).toEqual([5, 4, 5, 1])
    story.stop()
  })

  it('allows nothing for pods of a controller whose scale nobody can tell', async () => {
    const story = await openWorld()
    await story.api.create(pods, widgetPod('uid-of-nobody'))
    await story.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
    await story.seconds(10)
    const { status } = await get(story)
    expect([status?.disruptionsAllowed, status?.conditions?.[0]?.status, status?.conditions?.[0]?.reason]).toEqual([
      0,
      'False',
      'SyncFailed',
    ])
    await expect(evictPod(story.api, { namespace: 'default', name: 'w-1' })).rejects.toMatchObject({ code: 429 })
    story.stop()
  })

  it('asks a custom controller for its scale', async () => {
    const resourceOf = (apiVersion: string, kind: string) =>
      apiVersion === 'example.com/v1' && kind === 'Widget' ? widgets : undefined
    const story = await openWorld({ disruption: { resourceOf } })
    await story.api.create(customResourceDefinitions, widgetDefinition)
    await story.seconds(1)
    const widget = await story.api.create(widgets, {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w', namespace: 'default' },
      spec: { replicas: 4 },
    } as KubeObject)
    await story.api.create(pods, widgetPod(widget.metadata.uid as string))
    await story.api.create(podDisruptionBudgets, budget('web', { minAvailable: '25%' }))
    await story.seconds(10)
    expect(await counts(story)).toEqual([4, 1, 1, 0])
    story.stop()
  })
})

const widgets: ResourceType = {
  group: 'example.com',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
}

function widgetPod(uid: string): Pod {
  const bare = barePod('w-1', { labels: { app: 'web' } })
  const owner = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid, controller: true }
  return { ...bare, metadata: { ...bare.metadata, ownerReferences: [owner] } }
}

const widgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
      },
    ],
  },
} as KubeObject
