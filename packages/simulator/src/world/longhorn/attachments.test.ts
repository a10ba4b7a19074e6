import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import {
  longhornNamespace,
  longhornNodes,
  longhornVolumeAttachments,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { barePod, inDefault } from '../testing/scenario.ts'
import { selectNode, type Tickets } from './attachment-tickets.ts'
import { openLonghorn } from './testing/longhorn-fixture.ts'

describe('where a volume is attached', () => {
  const workload = (nodeID: string) => ({ type: 'csi-attacher', nodeID })
  const ui = (nodeID: string) => ({ type: 'longhorn-api', nodeID })
  const eviction = (nodeID: string) => ({ type: 'volume-eviction-controller', nodeID })
  const rows: Record<string, { tickets: Tickets; current?: string; expected: string | undefined }> = {
    'nowhere without a ticket': { tickets: {}, current: 'a', expected: undefined },
    'people come before workloads': { tickets: { w: workload('a'), u: ui('b') }, expected: 'b' },
    'workloads come before evictions': { tickets: { e: eviction('a'), w: workload('b') }, expected: 'b' },
    'among equals the first id': { tickets: { y: workload('b'), x: workload('a') }, expected: 'a' },
    'it stays where a workload uses it': { tickets: { w: workload('a'), u: ui('b') }, current: 'a', expected: 'a' },
    'an eviction makes room for a workload': {
      tickets: { e: eviction('a'), w: workload('b') },
      current: 'a',
      expected: 'b',
    },
    'an eviction makes no room for another': {
      tickets: { e: eviction('a'), f: eviction('b') },
      current: 'a',
      expected: 'a',
    },
    'among equals it stays where it is, whatever the ids': {
      tickets: { x: workload('a'), y: workload('b') },
      current: 'b',
      expected: 'b',
    },
    'a ticket without a node counts for nothing': { tickets: { w: workload('') }, expected: undefined },
  }
  it.each(Object.entries(rows))('%s', (_name, { tickets, current, expected }) => {
    expect(selectNode(tickets, current)).toBe(expected)
  })
})

describe('who attaches a volume', () => {
  it('a pod that mounts its claim or names it does, until the pod is gone', async () => {
    const fixture = await openLonghorn({
      volumes: [{ name: 'claimed', claim: { namespace: 'default', name: 'data' } }, { name: 'named' }],
    })
    const { api, volume, seconds, stop } = fixture
    const claims = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
    const pod = barePod('db-0', { volumes: claims, nodeName: 'node-2' })
    const annotations = { 'cofferdam.io/longhorn-volumes': 'named' }
    await api.create(pods, { ...pod, metadata: { ...pod.metadata, annotations } })
    await seconds(10)
    for (const name of ['claimed', 'named']) {
      expect((await volume(name)).status).toMatchObject({
        state: 'attached',
        currentNodeID: 'node-2',
        kubernetesStatus: { namespace: 'default', workloadsStatus: [{ podName: 'db-0' }] },
      })
    }
    expect((await volume('claimed')).status?.kubernetesStatus?.pvcName).toBe('data')
    await api.delete(pods, inDefault('db-0'))
    await seconds(60)
    for (const name of ['claimed', 'named']) expect((await volume(name)).status?.state).toBe('detached')
    stop()
  })

  it('what people attached by hand stays on a cordoned node, unless the setting takes it back (row 45)', async () => {
    const { controls, volume, cordon, setting, seconds, stop } = await openLonghorn({ volumes: [{ name: 'db' }] })
    await controls.attach('db', 'node-1', 'ui')
    await seconds(5)
    await cordon('node-1')
    await seconds(60)
    expect((await volume('db')).status?.state).toBe('attached')
    await setting('detach-manually-attached-volumes-when-cordoned', 'true')
    await seconds(60)
    expect((await volume('db')).status?.state).toBe('detached')
    stop()
  })
})

describe('a Longhorn that attaches nothing for evictions', () => {
  const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }

  it('leaves a detached volume alone, and moves its copy for a ticket that somebody else made, whatever its id', async () => {
    const fixture = await openLonghorn({ attachForEviction: 'nobody', volumes: [pair] })
    const { api, controls, volume, placesOf, cordon, requestEviction, seconds, until, stop } = fixture
    const write = (ticket: { type: string; nodeID: string } | null) =>
      api.patch(
        longhornVolumeAttachments,
        { namespace: longhornNamespace, name: 'db' },
        { type: 'merge', body: { spec: { attachmentTickets: { mine: ticket } } } },
      )
    await cordon('node-1')
    await requestEviction('node-1')
    await seconds(120)
    expect((await volume('db')).status?.state).toBe('detached')
    await write({ type: 'volume-eviction-controller', nodeID: 'node-3' })
    await until(async () => (await placesOf('db')).join() === 'node-2,node-3')
    expect((await volume('db')).status?.currentNodeID).toBe('node-3')
    await write(null)
    await until(async () => (await volume('db')).status?.state === 'detached')
    expect(controls.verify('db').isIntact).toBe(true)
    stop()
  })
})

describe('a node that people closed for replicas', () => {
  it('gets none, nor does one that is being deleted', async () => {
    const { api, placesOf, seconds, stop } = await openLonghorn()
    const change = (name: string, body: JsonObject) =>
      api.patch(longhornNodes, { namespace: longhornNamespace, name }, { type: 'merge', body })
    await change('node-1', { spec: { allowScheduling: false } })
    await change('node-2', { metadata: { finalizers: ['test/held'] } })
    await api.delete(longhornNodes, { namespace: longhornNamespace, name: 'node-2' })
    await api.create(longhornVolumes, {
      apiVersion: 'longhorn.io/v1beta2',
      kind: 'Volume',
      metadata: { name: 'db', namespace: longhornNamespace },
      spec: { size: '1073741824', numberOfReplicas: 3 },
    })
    await seconds(40)
    expect(await placesOf('db')).toEqual(['node-3'])
    stop()
  })
})

describe('a cordoned node', () => {
  it('takes no new replicas, unless the setting lets it (row 34)', async () => {
    const { api, node, placesOf, cordon, setting, seconds, stop } = await openLonghorn({}, { nodeCount: 2 })
    const create = (name: string) =>
      api.create(longhornVolumes, {
        apiVersion: 'longhorn.io/v1beta2',
        kind: 'Volume',
        metadata: { name, namespace: longhornNamespace },
        spec: { size: '1073741824', numberOfReplicas: 2 },
      })
    await cordon('node-1')
    await seconds(2)
    expect(conditionOf(await node('node-1'), 'Schedulable')).toMatchObject({
      status: 'False',
      reason: 'KubernetesNodeCordoned',
    })
    await create('first')
    await seconds(40)
    expect(await placesOf('first')).toEqual(['node-2'])
    await setting('disable-scheduling-on-cordoned-node', 'false')
    await seconds(2)
    expect(conditionOf(await node('node-1'), 'Schedulable')?.status).toBe('True')
    await create('second')
    await seconds(40)
    expect(await placesOf('second')).toEqual(['node-1', 'node-2'])
    stop()
  })
})
