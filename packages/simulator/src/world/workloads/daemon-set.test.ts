import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { daemonSets, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { isReady, isTerminating } from '../pod-facts.ts'
import { container, daemonSet, inDefault, node, openWorld, type Story } from '../testing/story.ts'

async function nodesWithPods(story: Story): Promise<string[]> {
  return (await story.podsOf('agent')).map(({ spec }) => spec.nodeName ?? '').sort()
}

function patchNode(story: Story, name: string, spec: JsonObject) {
  return story.api.patch(nodes, { name }, { type: 'merge', body: { spec } })
}

describe('a DaemonSet', () => {
  it('runs one pod on each node, on cordoned ones too, and on nodes that come later', async () => {
    const story = await openWorld({ nodeCount: 2 })
    await patchNode(story, 'node-1', { unschedulable: true })
    await story.api.create(daemonSets, daemonSet('agent'))
    await story.seconds(10)
    expect(await nodesWithPods(story)).toEqual(['node-1', 'node-2'])
    await story.api.create(nodes, node(3))
    await story.seconds(10)
    expect(await nodesWithPods(story)).toEqual(['node-1', 'node-2', 'node-3'])
    expect((await story.api.get(daemonSets, inDefault('agent'))).status).toEqual({
      observedGeneration: 1,
      currentNumberScheduled: 3,
      desiredNumberScheduled: 3,
      numberMisscheduled: 0,
      numberReady: 3,
      updatedNumberScheduled: 3,
      numberAvailable: 3,
    })
    story.stop()
  })

  it('keeps to its node selector and leaves nodes that no longer match', async () => {
    const story = await openWorld({ nodeCount: 3 })
    await story.api.create(daemonSets, daemonSet('agent', { pod: { nodeSelector: { role: 'storage' } } }))
    await story.seconds(5)
    expect(await nodesWithPods(story)).toEqual([])
    const label = (name: string, role: string | null) =>
      story.api.patch(nodes, { name }, { type: 'merge', body: { metadata: { labels: { role } } } })
    await label('node-1', 'storage')
    await label('node-2', 'storage')
    await story.seconds(5)
    expect(await nodesWithPods(story)).toEqual(['node-1', 'node-2'])
    await label('node-1', null)
    await story.seconds(10)
    expect(await nodesWithPods(story)).toEqual(['node-2'])
    story.stop()
  })

  it('stays when a node is tainted NoSchedule and leaves when it is tainted NoExecute', async () => {
    const story = await openWorld({ nodeCount: 2 })
    await story.api.create(daemonSets, daemonSet('agent'))
    await story.seconds(5)
    await patchNode(story, 'node-1', { taints: [{ key: 'busy', effect: 'NoSchedule' }] })
    await patchNode(story, 'node-2', { taints: [{ key: 'broken', effect: 'NoExecute' }] })
    await story.seconds(10)
    expect(await nodesWithPods(story)).toEqual(['node-1'])
    const { status } = await story.api.get(daemonSets, inDefault('agent'))
    expect([status?.desiredNumberScheduled, status?.numberMisscheduled]).toEqual([0, 1])
    story.stop()
  })

  it('stays on a node that is out of reach, and its pod is not deleted', async () => {
    const story = await openWorld({ nodeCount: 2 })
    await story.api.create(daemonSets, daemonSet('agent'))
    await story.seconds(5)
    story.world.kubelet.powerOff('node-1')
    await story.seconds(600)
    expect((await story.podsOf('agent')).filter(isTerminating)).toEqual([])
    expect(await nodesWithPods(story)).toEqual(['node-1', 'node-2'])
    story.stop()
  })

  it('updates no more pods at a time than may be unavailable', async () => {
    const story = await openWorld({ nodeCount: 4 })
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } } as const
    await story.api.create(daemonSets, daemonSet('agent', { updateStrategy }))
    await story.seconds(10)
    const image = 'registry.example/app:2'
    const body = { spec: { template: { spec: { containers: [{ name: container.name, image }] } } } }
    await story.api.patch(daemonSets, inDefault('agent'), { type: 'strategic', body })
    let leastReady = 4
    for (let step = 0; step < 300; step += 1) {
      await story.clock.advance(100)
      const serving = (await story.podsOf('agent')).filter((pod) => isReady(pod) && !isTerminating(pod))
      leastReady = Math.min(leastReady, serving.length)
    }
    expect(leastReady).toBe(3)
    expect((await story.podsOf('agent')).map(({ spec }) => spec.containers[0]?.image)).toEqual(Array(4).fill(image))
    const { status } = await story.api.get(daemonSets, inDefault('agent'))
    expect([status?.updatedNumberScheduled, status?.numberAvailable]).toEqual([4, 4])
    story.stop()
  })
})
