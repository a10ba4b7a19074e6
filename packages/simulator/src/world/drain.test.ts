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
import { budget, daemonSet, deployment, openWorld, statefulSet } from './testing/scenario.ts'

function serving(all: readonly Pod[]): number {
  return all.filter((pod) => isReady(pod) && !isTerminating(pod)).length
}

describe('a drain', () => {
  it('empties the node but for its daemons, within the budgets, and everything runs elsewhere after', async () => {
    const scenario = await openWorld({ nodeCount: 3 })
    await scenario.api.create(deployments, deployment('web', { replicas: 6 }))
    await scenario.api.create(statefulSets, statefulSet('db', { replicas: 3 }))
    await scenario.api.create(daemonSets, daemonSet('agent'))
    await scenario.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
    await scenario.api.create(podDisruptionBudgets, budget('db', { minAvailable: 2 }))
    await scenario.seconds(20)
    let isDone = false
    const drain = drainNode(scenario, 'node-1').then(() => {
      isDone = true
    })
    const least = { web: 6, db: 3 }
    while (!isDone && scenario.clock.now() < Date.UTC(2026, 0, 1, 0, 10)) {
      await scenario.clock.advance(50)
      least.web = Math.min(least.web, serving(await scenario.podsOf('web')))
      least.db = Math.min(least.db, serving(await scenario.podsOf('db')))
    }
    await drain
    await scenario.seconds(30)
    const onNode = async (name: string) =>
      (await Promise.all(['web', 'db', 'agent'].map((app) => scenario.podsOf(app))))
        .flat()
        .filter(({ spec }) => spec.nodeName === name)
        .map(({ metadata }) => metadata.labels?.['app'])
    expect(least).toEqual({ web: 5, db: 2 })
    expect(await onNode('node-1')).toEqual(['agent'])
    expect([serving(await scenario.podsOf('web')), serving(await scenario.podsOf('db'))]).toEqual([6, 3])
    await scenario.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { unschedulable: null } } })
    await scenario.seconds(5)
    expect((await scenario.api.get(nodes, { name: 'node-1' })).spec?.taints).toBeUndefined()
    expect(scenario.failures).toEqual([])
    scenario.stop()
  })

  it('waits at a budget that has nothing to spare, and goes on when it is relaxed', async () => {
    const scenario = await openWorld({ nodeCount: 2 })
    await scenario.api.create(deployments, deployment('web', { replicas: 2 }))
    await scenario.api.create(podDisruptionBudgets, budget('web', { minAvailable: 2 }))
    await scenario.seconds(10)
    let isDone = false
    void drainNode(scenario, 'node-1').then(() => {
      isDone = true
    })
    await scenario.seconds(120)
    expect([isDone, serving(await scenario.podsOf('web'))]).toEqual([false, 2])
    await scenario.api.patch(
      podDisruptionBudgets,
      { namespace: 'default', name: 'web' },
      {
        type: 'merge',
        body: { spec: { minAvailable: 1 } },
      },
    )
    await scenario.seconds(20)
    expect([isDone, (await scenario.podsOf('web')).map(({ spec }) => spec.nodeName)]).toEqual([
      true,
      ['node-2', 'node-2'],
    ])
    scenario.stop()
  })
})
