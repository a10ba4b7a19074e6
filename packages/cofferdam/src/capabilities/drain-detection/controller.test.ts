import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { createOptionalCache } from '@cofferdam/kubernetes/informers/optional-cache.ts'
import { createWatchCache } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import { runController } from '@cofferdam/kubernetes/runtime/controller.ts'
import { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { describe, expect, it } from 'vitest'
import { lateApi } from '../../operator/testing/late-api.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { parsePodOnNode } from '../../shared/pod-on-node.ts'
import type { Reason } from '../../shared/reasons.ts'
import { createDrainDetection } from './controller.ts'
import { buildAttempt } from './domain/attempt.ts'
import { parseDrainedNode } from './domain/snapshot.ts'

const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' }, spec: { unschedulable: true } }
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name: 'orders-0' },
  spec: { nodeName: 'node-a', containers: [{ name: 'main', image: 'registry.example/orders:1' }] },
}

async function fixture({ podsLateBySeconds = 0, isEmpty = false } = {}) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1, 12))
  const random = seededRandom(1)
  const api = new ApiServer({ clock, random }).as(clusterAdmin)
  await api.create(nodes, node)
  if (!isEmpty) await api.create(pods, pod)
  let isDeaf = false
  const deaf = changedApi(api, {
    async *watch(type, query) {
      for await (const event of api.watch(type, query)) if (!isDeaf || type.plural !== pods.plural) yield event
    },
  })
  const base = {
    api: lateApi({ api: deaf, clock }, { type: pods, seconds: podsLateBySeconds }),
    clock,
    random,
  }
  const views = {
    nodes: createWatchCache({ ...base, type: nodes, project: parseDrainedNode }),
    pods: createWatchCache({
      ...base,
      type: pods,
      project: parsePodOnNode,
      indexes: { node: ({ nodeName }) => [nodeName] },
    }),
    disruptions: createOptionalCache({
      ...base,
      type: nodeDisruptions,
      indexes: { node: ({ spec }) => [spec.nodeName] },
    }),
  }
  let writes = 0
  const notes: string[] = []
  const counted: Pick<typeof api, 'patch' | 'list'> = {
    list: (...request) => api.list(...request),
    patch: (...request) => {
      writes += 1
      return api.patch(...request)
    },
  }
  const events = new EventRecorder<Reason>({ clock, write: async (_about, { note }) => void notes.push(note) })
  const controller = runController(createDrainDetection({ api: counted, clock, views, events }), { clock, random })
  await clock.advance(1_000)
  return {
    api,
    clock,
    /** From now on no change of a pod gets through. */
    deafen() {
      isDeaf = true
    },
    writes: () => writes,
    notes,
    async attempt(by: string) {
      const annotations = { 'cofferdam.io/eviction-attempted': buildAttempt({ by, atMs: clock.now() }) }
      await api.patch(nodes, { name: 'node-a' }, { type: 'merge', body: { metadata: { annotations } } })
    },
    async says(type = 'DrainInProgress') {
      const { status, reason, message } = conditionOf(await api.get(nodes, { name: 'node-a' }), type) ?? {}
      return [status, reason, message]
    },
    async stop() {
      const stopping = controller.stop()
      await clock.advance(10_000)
      await stopping
      await Promise.all([views.nodes.stop(), views.pods.stop(), views.disruptions.stop()])
    },
  }
}

describe('a drain whose evictions are all refused', () => {
  it('is seen from the first attempt, goes on while somebody tries, and ends five minutes after the last', async () => {
    const { clock, attempt, says, writes, stop } = await fixture()
    expect((await says()).slice(0, 2)).toEqual(['False', 'CordonedOnly'])
    for (let minute = 0; minute < 20; minute += 1) {
      await attempt('alice')
      await clock.advance(60_000)
    }
    expect(await says()).toEqual([
      'True',
      'EvictionAttempted',
      'alice has tried to evict pods of this node; seen since 2026-01-01T12:00:01Z.',
    ])
    expect(writes()).toBe(2)
    await clock.advance(239_000)
    expect((await says())[0]).toBe('True')
    await clock.advance(3_000)
    expect((await says()).slice(0, 2)).toEqual(['False', 'DrainEnded'])
    await clock.advance(3_600_000)
    expect(writes()).toBe(3)
    await stop()
  })
})

describe('right after a start', () => {
  it('a node whose pods have not been read yet is not told to be drained: whoever waits for that would switch it off', async () => {
    const { clock, says, writes, stop } = await fixture({ podsLateBySeconds: 60 })
    await clock.advance(30_000)
    expect([await says(), writes()]).toEqual([[undefined, undefined, undefined], 0])
    await clock.advance(60_000)
    expect((await says()).slice(0, 2)).toEqual(['False', 'CordonedOnly'])
    await stop()
  })
})

describe('a copy of the pods that is behind', () => {
  it('does not make a node drained: a pod that came last would go down with its machine', async () => {
    const { api, clock, deafen, says, stop } = await fixture({ isEmpty: true })
    expect((await says('Drained')).slice(0, 2)).toEqual(['True', 'DrainCompleted'])
    const open = (isOpen: boolean) =>
      api.patch(nodes, { name: 'node-a' }, { type: 'merge', body: { spec: { unschedulable: !isOpen } } })
    deafen()
    await open(true)
    await clock.advance(1_000)
    await api.create(pods, pod)
    await open(false)
    await clock.advance(30_000)
    expect((await says('Drained')).slice(0, 2)).toEqual(['False', 'PodsRemain'])
    await stop()
  })
})

describe('a Node that is deleted', () => {
  it('with pods on it is reported once, with their names', async () => {
    const { api, clock, notes, stop } = await fixture()
    await api.delete(nodes, { name: 'node-a' })
    await clock.advance(60_000)
    expect(notes).toEqual(['node-a was deleted with pods on it that were not drained: default/orders-0.'])
    await stop()
  })
})
