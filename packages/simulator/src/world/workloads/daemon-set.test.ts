import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { daemonSets, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { isReady, isTerminating } from '../pod-facts.ts'
import { container, daemonSet, inDefault, node, openWorld, type Scenario } from '../testing/scenario.ts'

async function nodesWithPods(scenario: Scenario): Promise<string[]> {
  return (await scenario.podsOf('agent')).map(({ spec }) => spec.nodeName ?? '').sort()
}

function patchNode(scenario: Scenario, name: string, spec: JsonObject) {
  return scenario.api.patch(nodes, { name }, { type: 'merge', body: { spec } })
}

describe('a DaemonSet', () => {
  it('runs one pod on each node, on cordoned ones too, and on nodes that come later', async () => {
    const scenario = await openWorld({ nodeCount: 2 })
    await patchNode(scenario, 'node-1', { unschedulable: true })
    await scenario.api.create(daemonSets, daemonSet('agent'))
    await scenario.seconds(10)
    expect(await nodesWithPods(scenario)).toEqual(['node-1', 'node-2'])
    await scenario.api.create(nodes, node(3))
    await scenario.seconds(10)
    expect(await nodesWithPods(scenario)).toEqual(['node-1', 'node-2', 'node-3'])
    expect((await scenario.api.get(daemonSets, inDefault('agent'))).status).toEqual({
      observedGeneration: 1,
      currentNumberScheduled: 3,
      desiredNumberScheduled: 3,
      numberMisscheduled: 0,
      numberReady: 3,
      updatedNumberScheduled: 3,
      numberAvailable: 3,
    })
    scenario.stop()
  })

  it('keeps to its node selector and leaves nodes that no longer match', async () => {
    const scenario = await openWorld({ nodeCount: 3 })
    await scenario.api.create(daemonSets, daemonSet('agent', { pod: { nodeSelector: { role: 'storage' } } }))
    await scenario.seconds(5)
    expect(await nodesWithPods(scenario)).toEqual([])
    const label = (name: string, role: string | null) =>
      scenario.api.patch(nodes, { name }, { type: 'merge', body: { metadata: { labels: { role } } } })
    await label('node-1', 'storage')
    await label('node-2', 'storage')
    await scenario.seconds(5)
    expect(await nodesWithPods(scenario)).toEqual(['node-1', 'node-2'])
    await label('node-1', null)
    await scenario.seconds(10)
    expect(await nodesWithPods(scenario)).toEqual(['node-2'])
    scenario.stop()
  })

  it('stays when a node is tainted NoSchedule and leaves when it is tainted NoExecute', async () => {
    const scenario = await openWorld({ nodeCount: 2 })
    await scenario.api.create(daemonSets, daemonSet('agent'))
    await scenario.seconds(5)
    await patchNode(scenario, 'node-1', { taints: [{ key: 'busy', effect: 'NoSchedule' }] })
    await patchNode(scenario, 'node-2', { taints: [{ key: 'broken', effect: 'NoExecute' }] })
    await scenario.seconds(10)
    expect(await nodesWithPods(scenario)).toEqual(['node-1'])
    const { status } = await scenario.api.get(daemonSets, inDefault('agent'))
    expect([status?.desiredNumberScheduled, status?.numberMisscheduled]).toEqual([0, 1])
    scenario.stop()
  })

  it('stays on a node that is out of reach, and its pod is not deleted', async () => {
    const scenario = await openWorld({ nodeCount: 2 })
    await scenario.api.create(daemonSets, daemonSet('agent'))
    await scenario.seconds(5)
    scenario.world.kubelet.powerOff('node-1')
    await scenario.seconds(600)
    expect((await scenario.podsOf('agent')).filter(isTerminating)).toEqual([])
    expect(await nodesWithPods(scenario)).toEqual(['node-1', 'node-2'])
    scenario.stop()
  })

  it('updates no more pods at a time than may be unavailable', async () => {
    const scenario = await openWorld({ nodeCount: 4 })
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } } as const
    await scenario.api.create(daemonSets, daemonSet('agent', { updateStrategy }))
    await scenario.seconds(10)
    const image = 'registry.example/app:2'
    const body = { spec: { template: { spec: { containers: [{ name: container.name, image }] } } } }
    await scenario.api.patch(daemonSets, inDefault('agent'), { type: 'strategic', body })
    let leastReady = 4
    for (let step = 0; step < 300; step += 1) {
      await scenario.clock.advance(100)
      const serving = (await scenario.podsOf('agent')).filter((pod) => isReady(pod) && !isTerminating(pod))
      leastReady = Math.min(leastReady, serving.length)
    }
    expect(leastReady).toBe(3)
    expect((await scenario.podsOf('agent')).map(({ spec }) => spec.containers[0]?.image)).toEqual(Array(4).fill(image))
    const { status } = await scenario.api.get(daemonSets, inDefault('agent'))
    expect([status?.updatedNumberScheduled, status?.numberAvailable]).toEqual([4, 4])
    scenario.stop()
  })
})
