import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject, OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
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
import {
  barePod,
  budget,
  deployment,
  inDefault,
  openScenario,
  openWorld,
  type Scenario,
  statefulSet,
} from '../testing/scenario.ts'
import { startDisruption } from './disruption.ts'

async function counts(scenario: Scenario, name = 'web') {
  const { status } = await scenario.api.get(podDisruptionBudgets, inDefault(name))
  return [status?.expectedPods, status?.desiredHealthy, status?.currentHealthy, status?.disruptionsAllowed]
}

function get(scenario: Scenario): Promise<PodDisruptionBudget> {
  return scenario.api.get(podDisruptionBudgets, inDefault('web'))
}

async function firstPod(scenario: Scenario): Promise<{ namespace: string; name: string }> {
  const [pod] = (await scenario.podsOf('web')) as [Pod]
  return { namespace: 'default', name: pod.metadata.name }
}

describe('the disruption controller', () => {
  it('follows pods, the scale of their controller and the spec of the budget', async () => {
    const scenario = await openWorld()
    await scenario.api.create(deployments, deployment('web', { replicas: 3 }))
    await scenario.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: '50%' }))
    await scenario.seconds(10)
    expect(await counts(scenario)).toEqual([3, 1, 3, 2])
    await scenario.api.patch(deployments, inDefault('web'), { type: 'merge', body: { spec: { replicas: 5 } } })
    await scenario.seconds(10)
    expect(await counts(scenario)).toEqual([5, 2, 5, 3])
    await scenario.api.patch(podDisruptionBudgets, inDefault('web'), {
      type: 'merge',
      body: { spec: { maxUnavailable: null, minAvailable: 5 } },
    })
    await scenario.seconds(1)
    expect(await counts(scenario)).toEqual([5, 5, 5, 0])
    expect((await get(scenario)).status?.observedGeneration).toBe(2)
    scenario.stop()
  })

  it('keeps the old figure when a controller is scaled and no pod changes: a drain goes by what is written', async () => {
    const scenario = openScenario(1)
    const { api, clock, random } = scenario
    const disruption = startDisruption({ api, clock, random })
    const set = await api.create(statefulSets, statefulSet('web', { replicas: 3 }))
    await api.create(
      pods,
      ownedPod('web-1', { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: set.metadata.uid as string }),
    )
    await api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
    await scenario.seconds(1)
    expect(await counts(scenario)).toEqual([3, 2, 0, 0])
    await api.patch(statefulSets, inDefault('web'), { type: 'merge', body: { spec: { replicas: 5 } } })
    await scenario.seconds(600)
    expect(await counts(scenario)).toEqual([3, 2, 0, 0])
    const touch = { metadata: { annotations: { touched: 'yes' } } }
    await api.patch(pods, inDefault('web-1'), { type: 'merge', body: touch })
    await scenario.seconds(1)
    expect(await counts(scenario)).toEqual([5, 4, 0, 0])
    disruption.stop()
    scenario.stop()
  })

  it('lets one eviction pass, refuses the second at once, and frees the budget when the pod is back', async () => {
    const scenario = await openWorld()
    await scenario.api.create(deployments, deployment('web', { replicas: 3 }))
    await scenario.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
    await scenario.seconds(10)
    const [a, b] = (await scenario.podsOf('web')) as [Pod, Pod]
    const evict = ({ metadata }: Pod) => evictPod(scenario.api, { namespace: 'default', name: metadata.name })
    await evict(a)
    await expect(evict(b)).rejects.toMatchObject({ code: 429, reason: 'TooManyRequests' })
    await scenario.seconds(1)
    await expect(evict(b)).rejects.toMatchObject({ code: 429 })
    await scenario.seconds(10)
    expect(await counts(scenario)).toEqual([3, 2, 3, 1])
    await evict(b)
    scenario.stop()
  })

  it('lags as long as it is told to', async () => {
    const scenario = await openWorld({ disruption: { lagMs: 5_000 } })
    await scenario.api.create(deployments, deployment('web', { replicas: 3 }))
    await scenario.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
    await scenario.seconds(4)
    expect((await get(scenario)).status?.observedGeneration ?? 0).toBe(0)
    await expect(evictPod(scenario.api, await firstPod(scenario))).rejects.toMatchObject({ code: 429 })
    await scenario.seconds(10)
    expect(await counts(scenario)).toEqual([3, 2, 3, 1])
    scenario.stop()
  })

  it('takes a granted eviction that never came back after two minutes, and says so', async () => {
    const scenario = await openWorld()
    await scenario.api.create(deployments, deployment('web', { replicas: 3 }))
    await scenario.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
    await scenario.seconds(10)
    const held = await get(scenario)
    const { name } = await firstPod(scenario)
    const disruptedPods = { [name]: new Date(scenario.clock.now()).toISOString() }
    const status = { ...held.status, disruptionsAllowed: 0, disruptedPods } as NonNullable<
      PodDisruptionBudget['status']
    >
    await scenario.api.update(podDisruptionBudgets, { ...held, status }, { subresource: 'status' })
    await scenario.seconds(90)
    expect(await counts(scenario)).toEqual([3, 2, 2, 0])
    await scenario.seconds(40)
    expect(await counts(scenario)).toEqual([3, 2, 3, 1])
    expect(await scenario.eventsAbout(name)).toContain(
      "Warning NotDeleted x1: Pod was expected by PDB default/web to be deleted but it wasn't",
    )
    scenario.stop()
  })

  it('expects no bare pods under a percentage, which blocks for ever, but counts them under a number', async () => {
    const scenario = await openWorld()
    for (const name of ['a', 'b']) await scenario.api.create(pods, barePod(name, { labels: { app: 'web' } }))
    await scenario.api.create(podDisruptionBudgets, budget('web', { minAvailable: '50%' }))
    await scenario.seconds(10)
    expect(await counts(scenario)).toEqual([0, 0, 2, 0])
    expect((await scenario.eventsAbout('web')).some((line) => line.startsWith('Warning UnmanagedPods'))).toBe(true)
    await scenario.api.patch(podDisruptionBudgets, inDefault('web'), {
      type: 'merge',
      body: { spec: { minAvailable: 1 } },
    })
    await scenario.seconds(1)
    expect(await counts(scenario)).toEqual([2, 1, 2, 1])
    scenario.stop()
  })

  it('adds up all controllers whose pods the selector takes', async () => {
    const scenario = await openWorld()
    await scenario.api.create(deployments, deployment('web', { replicas: 2 }))
    await scenario.api.create(statefulSets, statefulSet('db', { replicas: 3 }))
    const all = { selector: { matchExpressions: [{ key: 'app', operator: 'Exists' as const }] } }
    await scenario.api.create(podDisruptionBudgets, budget('web', { ...all, maxUnavailable: 1 }))
    await scenario.seconds(20)
    expect(await counts(scenario)).toEqual([5, 4, 5, 1])
    scenario.stop()
  })

  it('allows nothing for pods of a controller whose scale nobody can tell', async () => {
    const scenario = await openWorld()
    await scenario.api.create(pods, widgetPod('uid-of-nobody'))
    await scenario.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
    await scenario.seconds(10)
    const { status } = await get(scenario)
    expect([status?.disruptionsAllowed, status?.conditions?.[0]?.status, status?.conditions?.[0]?.reason]).toEqual([
      0,
      'False',
      'SyncFailed',
    ])
    await expect(evictPod(scenario.api, { namespace: 'default', name: 'w-1' })).rejects.toMatchObject({ code: 429 })
    scenario.stop()
  })

  it('asks a custom controller for its scale', async () => {
    const resourceOf = (apiVersion: string, kind: string) =>
      apiVersion === 'example.com/v1' && kind === 'Widget' ? widgets : undefined
    const scenario = await openWorld({ disruption: { resourceOf } })
    await scenario.api.create(customResourceDefinitions, widgetDefinition)
    await scenario.seconds(1)
    const widget = await scenario.api.create(widgets, {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w', namespace: 'default' },
      spec: { replicas: 4 },
    } as KubeObject)
    await scenario.api.create(pods, widgetPod(widget.metadata.uid as string))
    await scenario.api.create(podDisruptionBudgets, budget('web', { minAvailable: '25%' }))
    await scenario.seconds(10)
    expect(await counts(scenario)).toEqual([4, 1, 1, 0])
    scenario.stop()
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
  return ownedPod('w-1', { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid })
}

function ownedPod(name: string, owner: OwnerReference): Pod {
  const bare = barePod(name, { labels: { app: 'web' } })
  return { ...bare, metadata: { ...bare.metadata, ownerReferences: [{ ...owner, controller: true }] } }
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
