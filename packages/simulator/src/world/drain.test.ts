import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import {
  daemonSets,
  deployments,
  nodes,
  podDisruptionBudgets,
  statefulSets,
} from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { isReady, isTerminating } from './pod-facts.ts'
import { drainNode } from './testing/drain.ts'
import { budget, daemonSet, deployment, openWorld, statefulSet } from './testing/story.ts'

function serving(all: readonly Pod[]): number {
  return all.filter((pod) => isReady(pod) && !isTerminating(pod)).length
}

describe('a drain', () => {
  it('empties the node but for its daemons, within the budgets, and everything runs elsewhere after', async () => {
    const story = await openWorld({ nodeCount: 3 })
    await story.api.create(deployments, deployment('web', { replicas: 6 }))
    await story.api.create(statefulSets, statefulSet('db', { replicas: 3 }))
    await story.api.create(daemonSets, daemonSet('agent'))
    await story.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
    await story.api.create(podDisruptionBudgets, budget('db', { minAvailable: 2 }))
    await story.seconds(20)
    let isDone = false
    const drain = drainNode(story, 'node-1').then(() => {
      isDone = true
    })
    const least = { web: 6, db: 3 }
    while (!isDone && story.clock.now() < Date.UTC(2026, 0, 1, 0, 10)) {
      await story.clock.advance(50)
      least.web = Math.min(least.web, serving(await story.podsOf('web')))
      least.db = Math.min(least.db, serving(await story.podsOf('db')))
    }
    await drain
    await story.seconds(30)
    const onNode = async (name: string) =>
      (await Promise.all(['web', 'db', 'agent'].map((app) => story.podsOf(app))))
        .flat()
        .filter(({ spec }) => spec.nodeName === name)
        .map(({ metadata }) => metadata.labels?.['app'])
    expect(least).toEqual({ web: 5, db: 2 })
    expect(await onNode('node-1')).toEqual(['agent'])
    expect([serving(await story.podsOf('web')), serving(await story.podsOf('db'))]).toEqual([6, 3])
    await story.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { unschedulable: null } } })
    await story.seconds(5)
    expect((await story.api.get(nodes, { name: 'node-1' })).spec?.taints).toBeUndefined()
    expect(story.failures).toEqual([])
    story.stop()
  })

  it('waits at a budget that has nothing to spare, and goes on when it is relaxed', async () => {
    const story = await openWorld({ nodeCount: 2 })
    await story.api.create(deployments, deployment('web', { replicas: 2 }))
    await story.api.create(podDisruptionBudgets, budget('web', { minAvailable: 2 }))
    await story.seconds(10)
    let isDone = false
    void drainNode(story, 'node-1').then(() => {
      isDone = true
    })
    await story.seconds(120)
    expect([isDone, serving(await story.podsOf('web'))]).toEqual([false, 2])
    await story.api.patch(
      podDisruptionBudgets,
      { namespace: 'default', name: 'web' },
      {
        type: 'merge',
        body: { spec: { minAvailable: 1 } },
      },
    )
    await story.seconds(20)
    expect([isDone, (await story.podsOf('web')).map(({ spec }) => spec.nodeName)]).toEqual([true, ['node-2', 'node-2']])
    story.stop()
  })
})
