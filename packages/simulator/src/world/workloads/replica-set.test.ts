import type { ReplicaSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { pods, replicaSets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { describe, expect, it } from 'vitest'
import {
  barePod,
  changedApi,
  container,
  inDefault,
  openScenario,
  openWorld,
  type Scenario,
} from '../testing/scenario.ts'
import { podsToLetGo, startReplicaSets } from './replica-set.ts'

function replicaSet(name: string, replicas: number): ReplicaSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [container] } },
    },
  }
}

async function scale(scenario: Scenario, name: string, replicas: number): Promise<void> {
  await scenario.api.patch(replicaSets, inDefault(name), { type: 'merge', body: { spec: { replicas } } })
}

describe('a ReplicaSet', () => {
  it('creates its pods, tells of them, and says in its status that they are ready', async () => {
    const scenario = await openWorld()
    await scenario.api.create(replicaSets, replicaSet('web', 2))
    await scenario.seconds(5)
    const created = await scenario.podsOf('web')
    expect((await scenario.api.get(replicaSets, inDefault('web'))).status).toEqual({
      replicas: 2,
      fullyLabeledReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      observedGeneration: 1,
    })
    expect(created.map((pod) => controllerOf(pod)?.name)).toEqual(['web', 'web'])
    expect((await scenario.eventsAbout('web')).sort()).toEqual(
      created.map((pod) => `Normal SuccessfulCreate x1: Created pod: ${pod.metadata.name}`).sort(),
    )
    scenario.stop()
  })

  it('replaces a pod that is deleted and one that has failed', async () => {
    const scenario = await openWorld()
    await scenario.api.create(replicaSets, replicaSet('web', 2))
    await scenario.seconds(5)
    const [first, second] = (await scenario.podsOf('web')) as [Pod, Pod]
    await scenario.api.delete(pods, inDefault(first.metadata.name))
    await scenario.api.patch(
      pods,
      inDefault(second.metadata.name),
      { type: 'merge', body: { status: { phase: 'Failed' } } },
      { subresource: 'status' },
    )
    await scenario.seconds(10)
    const running = (await scenario.podsOf('web')).filter(({ status }) => status?.phase === 'Running')
    expect(running).toHaveLength(2)
    expect(running.map(({ metadata }) => metadata.uid)).not.toContain(first.metadata.uid)
    scenario.stop()
  })

  it('never creates a pod twice although its watch lags behind its writes', async () => {
    const scenario = openScenario()
    const slow = laggingWatch(scenario.api, (ms) => sleep(scenario.clock, ms))
    const actor = startReplicaSets({ api: slow, clock: scenario.clock, random: scenario.random })
    await scenario.seconds(5)
    await scenario.api.create(replicaSets, replicaSet('web', 3))
    let most = 0
    for (let step = 0; step < 40; step += 1) {
      await scenario.clock.advance(250)
      most = Math.max(most, (await scenario.podsOf('web')).length)
    }
    expect(most).toBe(3)
    actor.stop()
    scenario.stop()
  })

  it('takes in a matching pod that has no controller instead of creating one', async () => {
    const scenario = await openWorld()
    await scenario.api.create(pods, barePod('lonely', { labels: { app: 'web' } }))
    await scenario.api.create(replicaSets, replicaSet('web', 1))
    await scenario.seconds(5)
    const [only, ...others] = (await scenario.podsOf('web')) as [Pod]
    expect([only.metadata.name, controllerOf(only)?.name, others]).toEqual(['lonely', 'web', []])
    scenario.stop()
  })

  it('lets go of a pod whose labels no longer match, and creates another', async () => {
    const scenario = await openWorld()
    await scenario.api.create(replicaSets, replicaSet('web', 1))
    await scenario.seconds(5)
    const [pod] = (await scenario.podsOf('web')) as [Pod]
    await scenario.api.patch(pods, inDefault(pod.metadata.name), {
      type: 'merge',
      body: { metadata: { labels: { app: 'debug' } } },
    })
    await scenario.seconds(5)
    const released = await scenario.api.get(pods, inDefault(pod.metadata.name))
    expect(controllerOf(released)).toBeUndefined()
    expect(await scenario.podsOf('web')).toHaveLength(1)
    scenario.stop()
  })

  it('gives up pods when it is scaled down, and none while it is being deleted', async () => {
    const scenario = await openWorld()
    await scenario.api.create(replicaSets, replicaSet('web', 4))
    await scenario.seconds(5)
    await scale(scenario, 'web', 1)
    await scenario.seconds(10)
    expect(await scenario.podsOf('web')).toHaveLength(1)
    await scenario.api.delete(replicaSets, inDefault('web'), { propagationPolicy: 'Foreground' })
    await scenario.seconds(10)
    expect([await scenario.podsOf('web'), await scenario.list(replicaSets)]).toEqual([[], []])
    scenario.stop()
  })
})

describe('which pod goes first', () => {
  const pod = (name: string, parts: Partial<Pod['status'] & object> & { node?: string; cost?: string } = {}): Pod => {
    const { node = 'n1', cost, ...status } = parts
    return {
      ...barePod(name, node === '' ? {} : { nodeName: node }),
      metadata: {
        name,
        namespace: 'default',
        creationTimestamp: '2026-01-01T00:00:00Z',
        ...(cost === undefined ? {} : { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
      },
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:01:00Z' }],
        ...status,
      },
    }
  }
  const cases: Record<string, { given: Pod[]; goes: string }> = {
    'one that has no node goes before one that runs': {
      given: [pod('runs'), pod('unplaced', { node: '', phase: 'Pending', conditions: [] })],
      goes: 'unplaced',
    },
    'one that is not ready goes before one that is': {
      given: [pod('ready'), pod('unready', { conditions: [{ type: 'Ready', status: 'False' }] })],
      goes: 'unready',
    },
    'one that is cheap to delete goes before one with more neighbours': {
      given: [pod('crowded'), pod('crowded-too'), pod('cheap', { node: 'n2', cost: '-5' })],
      goes: 'cheap',
    },
    'one of two on the same node goes before one alone': {
      given: [pod('alone', { node: 'n2' }), pod('one-of-two'), pod('other-of-two')],
      goes: 'one-of-two',
    },
    'the one that became ready last goes before its elder': {
      given: [
        pod('elder', { node: 'n2' }),
        pod('younger', { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:09:00Z' }] }),
      ],
      goes: 'younger',
    },
  }
  it.each(Object.entries(cases))('%s', (_, { given, goes }) => {
    expect(podsToLetGo(given, 1).map(({ metadata }) => metadata.name)).toEqual([goes])
    expect(podsToLetGo([...given].reverse(), 1).map(({ metadata }) => metadata.name)).toEqual([goes])
  })
})

/** An API whose watches deliver everything two seconds late. */
function laggingWatch(api: KubeApi, wait: (ms: number) => Promise<void>): KubeApi {
  return changedApi(api, {
    watch: (type, query) => ({
      async *[Symbol.asyncIterator]() {
        for await (const event of api.watch(type, query)) {
          await wait(2_000)
          yield event
        }
      },
    }),
  })
}
