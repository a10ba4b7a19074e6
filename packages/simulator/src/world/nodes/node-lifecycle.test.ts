import type { Node, Pod, Taint } from '@cofferdam/kubernetes/api/core.ts'
import { type Condition, conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { deployments, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { isReady, isTerminating } from '../pod-facts.ts'
import { barePod, deployment, inDefault, node, openWorld, type Scenario } from '../testing/scenario.ts'
import { decideTaints } from './node-taints.ts'
import { toleratedSeconds } from './taint-eviction.ts'

function taintsOf(scenario: Scenario, name: string): Promise<string[]> {
  return scenario.api
    .get(nodes, { name })
    .then(({ spec }) => (spec?.taints ?? []).map(({ key, effect }) => `${key.split('/')[1] ?? key}:${effect}`).sort())
}

describe('a node that has gone silent', () => {
  it('is Unknown and tainted after the grace period, its pods are not ready, and all is well again when it returns', async () => {
    const scenario = await openWorld({ nodeCount: 2 })
    await scenario.api.create(pods, barePod('a', { nodeName: 'node-1' }))
    await scenario.seconds(5)
    scenario.world.kubelet.disconnect('node-1')
    await scenario.seconds(30)
    expect(await taintsOf(scenario, 'node-1')).toEqual([])
    await scenario.seconds(30)
    const ready = conditionOf(await scenario.api.get(nodes, { name: 'node-1' }), 'Ready')
    expect([ready?.status, ready?.reason, ready?.message]).toEqual([
      'Unknown',
      'NodeStatusUnknown',
      'Kubelet stopped posting node status.',
    ])
    expect(await taintsOf(scenario, 'node-1')).toEqual(['unreachable:NoExecute', 'unreachable:NoSchedule'])
    expect(isReady(await scenario.api.get(pods, inDefault('a')))).toBe(false)
    scenario.world.kubelet.reconnect('node-1')
    await scenario.seconds(5)
    expect(await taintsOf(scenario, 'node-1')).toEqual([])
    expect(isReady(await scenario.api.get(pods, inDefault('a')))).toBe(true)
    scenario.stop()
  })

  it('loses its pods after they have tolerated it for five minutes; they come back elsewhere and stay terminating there', async () => {
    const scenario = await openWorld({ nodeCount: 2 })
    await scenario.api.create(deployments, deployment('web', { replicas: 2 }))
    await scenario.seconds(10)
    const lost = (await scenario.podsOf('web')).filter(({ spec }) => spec.nodeName === 'node-1') as Pod[]
    expect(lost).toHaveLength(1)
    scenario.world.kubelet.powerOff('node-1')
    await scenario.seconds(300)
    expect((await scenario.podsOf('web')).filter(isTerminating)).toEqual([])
    await scenario.seconds(60)
    const now = await scenario.podsOf('web')
    const going = now.filter(isTerminating)
    expect(going.map(({ metadata }) => metadata.name)).toEqual(lost.map(({ metadata }) => metadata.name))
    expect(conditionOf(going[0] as Pod, 'DisruptionTarget')?.reason).toBe('DeletionByTaintManager')
    expect(now.filter((pod) => isReady(pod)).map(({ spec }) => spec.nodeName)).toEqual(['node-2', 'node-2'])
    scenario.stop()
  })

  it('that returns in time keeps its pods', async () => {
    const scenario = await openWorld({ nodeCount: 2 })
    await scenario.api.create(deployments, deployment('web', { replicas: 2 }))
    await scenario.seconds(10)
    const before = (await scenario.podsOf('web')).map(({ metadata }) => metadata.uid)
    scenario.world.kubelet.disconnect('node-1')
    await scenario.seconds(200)
    scenario.world.kubelet.reconnect('node-1')
    await scenario.seconds(400)
    expect((await scenario.podsOf('web')).map(({ metadata }) => metadata.uid)).toEqual(before)
    scenario.stop()
  })
})

describe('taints', () => {
  it('a cordoned node carries the unschedulable taint until it is uncordoned, beside the taints of others', async () => {
    const scenario = await openWorld({ nodeCount: 1 })
    const patch = (body: { spec: object }) =>
      scenario.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: body as never })
    await patch({ spec: { unschedulable: true, taints: [{ key: 'theirs', effect: 'NoSchedule' }] } })
    await scenario.seconds(1)
    expect(await taintsOf(scenario, 'node-1')).toEqual(['theirs:NoSchedule', 'unschedulable:NoSchedule'])
    await patch({ spec: { unschedulable: null } })
    await scenario.seconds(1)
    expect(await taintsOf(scenario, 'node-1')).toEqual(['theirs:NoSchedule'])
    scenario.stop()
  })

  const saying = (ready: Condition['status'], taints: readonly Taint[] = []): Node => ({
    ...node(1, { taints }),
    status: { conditions: [{ type: 'Ready', status: ready }] },
  })
  const at = '2026-01-01T00:00:00Z'
  const taint = (key: string, effect: Taint['effect'], timeAdded?: string): Taint => ({
    key: `node.kubernetes.io/${key}`,
    effect,
    ...(timeAdded === undefined ? {} : { timeAdded }),
  })
  const cases: Record<string, { given: Node; decided: readonly Taint[] | undefined }> = {
    'a healthy node without taints stays as it is': { given: saying('True'), decided: undefined },
    'a node that says it is not ready is tainted for new pods and for those on it': {
      given: saying('False'),
      decided: [taint('not-ready', 'NoSchedule', at), taint('not-ready', 'NoExecute', at)],
    },
    'a node that was not ready and is now out of reach changes its taints': {
      given: saying('Unknown', [taint('not-ready', 'NoSchedule'), taint('not-ready', 'NoExecute')]),
      decided: [taint('unreachable', 'NoSchedule', at), taint('unreachable', 'NoExecute', at)],
    },
    'a node under pressure takes no new pods': {
      given: { ...node(1), status: { conditions: [{ type: 'DiskPressure', status: 'True' }] } },
      decided: [taint('disk-pressure', 'NoSchedule', at)],
    },
    'a node that is well again loses our taints only': {
      given: saying('True', [taint('not-ready', 'NoExecute'), { key: 'theirs', effect: 'NoExecute' }]),
      decided: [{ key: 'theirs', effect: 'NoExecute' }],
    },
  }
  it.each(Object.entries(cases))('%s', (_, { given, decided }) => {
    expect(decideTaints(given, at)).toEqual(decided)
  })
})

describe('how long a pod may stay', () => {
  const out: Taint = { key: 'out', effect: 'NoExecute' }
  const gone: Taint = { key: 'gone', effect: 'NoExecute' }
  const cases: Record<
    string,
    { tolerations: Pod['spec']['tolerations']; taints: Taint[]; seconds: number | undefined }
  > = {
    'without taints for ever': { tolerations: [], taints: [], seconds: undefined },
    'without a toleration not at all': { tolerations: [], taints: [out], seconds: 0 },
    'tolerating everything for ever': {
      tolerations: [{ operator: 'Exists' }],
      taints: [out, gone],
      seconds: undefined,
    },
    'the shortest of its tolerations': {
      tolerations: [
        { key: 'out', operator: 'Exists', tolerationSeconds: 300 },
        { key: 'gone', operator: 'Exists', tolerationSeconds: 60 },
      ],
      taints: [out, gone],
      seconds: 60,
    },
    'not at all when one of two taints is not tolerated': {
      tolerations: [{ key: 'out', operator: 'Exists' }],
      taints: [out, gone],
      seconds: 0,
    },
  }
  it.each(Object.entries(cases))('%s', (_, { tolerations = [], taints, seconds }) => {
    expect(toleratedSeconds(barePod('a', { tolerations }), taints)).toBe(seconds)
  })
})

describe('pods that nobody will end', () => {
  it('go with a node that was deleted, once its quarantine is over, and their controllers replace them', async () => {
    const scenario = await openWorld({ nodeCount: 2 })
    await scenario.api.create(deployments, deployment('web', { replicas: 2 }))
    await scenario.seconds(10)
    await scenario.api.delete(nodes, { name: 'node-1' })
    await scenario.seconds(30)
    expect((await scenario.podsOf('web')).map(({ spec }) => spec.nodeName ?? '').sort()).toEqual(['node-1', 'node-2'])
    await scenario.seconds(60)
    expect((await scenario.podsOf('web')).map(({ spec }) => spec.nodeName)).toEqual(['node-2', 'node-2'])
    scenario.stop()
  })

  it('go when they terminate on a dead node that is marked out of service', async () => {
    const scenario = await openWorld({ nodeCount: 2 })
    await scenario.api.create(pods, barePod('a', { nodeName: 'node-1' }))
    await scenario.seconds(5)
    scenario.world.kubelet.powerOff('node-1')
    await scenario.seconds(60)
    await scenario.api.delete(pods, inDefault('a'))
    await scenario.seconds(60)
    expect((await scenario.list(pods)).filter(isTerminating)).toHaveLength(1)
    const { spec } = await scenario.api.get(nodes, { name: 'node-1' })
    const taints = [...(spec?.taints ?? []), { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }]
    await scenario.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { taints } } as never })
    await scenario.seconds(30)
    expect(await scenario.list(pods)).toEqual([])
    scenario.stop()
  })
})
