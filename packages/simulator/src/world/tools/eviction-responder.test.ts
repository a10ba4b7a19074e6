import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import {
  type EvictionRequest,
  evictionRequests,
  imperativeEvictor,
  lifecycleEvictions,
} from '@cofferdam/kubernetes/api/kinds/eviction-requests.ts'
import { customResourceDefinitions, deployments, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { evictionRequestDefinitions } from '../../cluster-file/eviction-request-definitions.ts'
import type { Actor, ActorFailure } from '../actor.ts'
import type { World } from '../start-world.ts'
import { budget, deployment, openWorld, type Scenario } from '../testing/scenario.ts'
import { createEvictionRequestController } from './eviction-request-controller.ts'
import { createEvictionResponder, type EvictionResponder } from './eviction-responder.ts'

let scenario: Scenario & { readonly world: World }
let actors: Actor[]
let pod: Pod

beforeEach(async () => {
  scenario = await openWorld({
    nodeCount: 2,
    kubelet: { readySeconds: 1, terminationSeconds: 1 },
    server: { optionalField: 'evictionResponders' },
  })
  const { api } = scenario
  for (const definition of evictionRequestDefinitions()) await api.create(customResourceDefinitions, definition)
  const evictionResponders = [{ name: 'acme.io/copier' }, { name: 'acme.io/mover' }]
  await api.create(deployments, deployment('vm', { replicas: 1, pod: { evictionResponders } }))
  await api.create(podDisruptionBudgets, budget('vm', { maxUnavailable: 0 }))
  actors = [createEvictionRequestController(ports())]
  await scenario.seconds(10)
  pod = (await scenario.podsOf('vm'))[0] as Pod
})

afterEach(() => {
  expect(scenario.failures).toEqual([])
  for (const actor of actors) actor.stop()
  scenario.stop()
})

function ports() {
  const { api, clock, random, world, failures } = scenario
  return { api, clock, random, views: world.views, onFailure: (failure: ActorFailure) => failures.push(failure) }
}

function respond(name: string, moveSeconds: number, isPartial = false): EvictionResponder {
  const responder = createEvictionResponder(ports(), { name, moveSeconds, isPartial })
  actors.push(responder)
  return responder
}

const request = (name = 'drain', requesterName = 'acme.io/drain') =>
  scenario.api.create(evictionRequests, {
    apiVersion: 'lifecycle.k8s.io/v1alpha1',
    kind: 'EvictionRequest',
    metadata: { name, namespace: 'default' },
    spec: {
      target: { pod: { name: pod.metadata.name, uid: pod.metadata.uid ?? '' } },
      requesterName,
      intent: 'Eviction',
    },
  } as EvictionRequest)

const withdraw = (name: string) =>
  scenario.api.patch(
    evictionRequests,
    { namespace: 'default', name },
    { type: 'merge', body: { spec: { intent: 'Withdrawn' } } },
  )

async function states(): Promise<string[]> {
  const [eviction] = await scenario.list(lifecycleEvictions)
  return (eviction?.status?.targetResponders ?? []).map(({ name, state }) => `${name} ${state}`)
}

async function ends(): Promise<string[]> {
  const requests = await scenario.list(evictionRequests)
  return requests.map(({ status }) => status?.conditions?.map(({ type, reason }) => `${type} ${reason}`).join() ?? '')
}

it('responders work one after the other, and the request learns that the pod has gone', async () => {
  const [copier, mover] = [respond('acme.io/copier', 100, true), respond('acme.io/mover', 100)]
  await request()
  await scenario.seconds(50)
  expect(await states()).toEqual(['acme.io/copier Active', 'acme.io/mover Inactive', `${imperativeEvictor} Inactive`])
  await scenario.seconds(100)
  expect(await states()).toEqual(['acme.io/copier Completed', 'acme.io/mover Active', `${imperativeEvictor} Inactive`])
  await scenario.seconds(100)
  const { name } = pod.metadata
  expect([copier.done, mover.done].map((each) => each.at(-1))).toEqual([`moved ${name}`, `moved ${name}`])
  expect(await ends()).toEqual(['TargetEvicted PodDeleted'])
})

it('those that never answer are interrupted after twenty minutes each, and then the eviction API is called, within the budget', async () => {
  await request()
  await scenario.seconds(41 * 60)
  expect(await states()).toEqual([
    'acme.io/copier Interrupted',
    'acme.io/mover Interrupted',
    `${imperativeEvictor} Active`,
  ])
  expect((await scenario.podsOf('vm'))[0]?.metadata.uid).toBe(pod.metadata.uid)
  const body = { spec: { maxUnavailable: 1 } }
  await scenario.api.patch(podDisruptionBudgets, { namespace: 'default', name: 'vm' }, { type: 'merge', body })
  await scenario.seconds(60)
  expect((await scenario.podsOf('vm'))[0]?.metadata.uid).not.toBe(pod.metadata.uid)
})

it('a responder stops when the last of two requesters has withdrawn, and not before', async () => {
  const { done } = respond('acme.io/copier', 1_000)
  await request()
  await request('tidy', 'acme.io/tidy')
  await scenario.seconds(10)
  await withdraw('drain')
  await scenario.seconds(10)
  expect(done).toEqual([`moves ${pod.metadata.name}`])
  await withdraw('tidy')
  await scenario.seconds(10)
  expect(done.at(-1)).toBe(`stopped moving ${pod.metadata.name}`)
  expect(await ends()).toEqual(['Failed CanceledDueToNoRequesters', 'Failed CanceledDueToNoRequesters'])
})

it('a requester without a domain is refused, and so is another target', async () => {
  await expect(request('drain', 'drain')).rejects.toMatchObject({ code: 422 })
  await request()
  const body = { spec: { target: { pod: { name: 'other', uid: 'other' } } } }
  const changed = scenario.api.patch(evictionRequests, { namespace: 'default', name: 'drain' }, { type: 'merge', body })
  await expect(changed).rejects.toMatchObject({ code: 422 })
})

it('a server without the feature drops what pods say of responders', async () => {
  const plain = await openWorld({ nodeCount: 1 })
  const evictionResponders = [{ name: 'acme.io/mover' }]
  await plain.api.create(deployments, deployment('vm', { replicas: 1, pod: { evictionResponders } }))
  await plain.seconds(5)
  expect((await plain.podsOf('vm')).map(({ spec }) => spec.evictionResponders)).toEqual([undefined])
  expect(pod.spec.evictionResponders).toEqual([{ name: 'acme.io/copier' }, { name: 'acme.io/mover' }])
  plain.stop()
})
