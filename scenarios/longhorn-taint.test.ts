import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { NodeExplanation } from '@cofferdam/product/explain/explanation.ts'
import type { LonghornDescription } from '@cofferdam/simulator/world/longhorn/longhorn-description.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { askExplain } from './testing/ask-commands.ts'
import { startEmptying } from './testing/drainer.ts'
import { type LonghornFixture, type LonghornFixtureOptions, openLonghornFixture } from './testing/longhorn-fixture.ts'

let fixture: LonghornFixture
afterEach(() => fixture.close())

const slowly = { rebuildBytesPerSecond: 16 * 1024 ** 2 }
const three = { name: 'db', numberOfReplicas: 3, placedOn: ['node-1', 'node-2', 'node-3'], filled: 0.25 }
const guide = { 'cofferdam.io/manage': 'guide' }
const shared = { 'replica-soft-anti-affinity': 'true' }

async function open(description: LonghornDescription, options: LonghornFixtureOptions = {}): Promise<void> {
  fixture = await openLonghornFixture(
    { ownDrainHandling: true, timings: slowly, ...description },
    { annotations: guide, ...options },
  )
}

async function taint(node: string, key: string | null): Promise<void> {
  const taints = key === null ? null : [{ key, effect: 'NoSchedule' as const }]
  await fixture.api.patch(nodes, { name: node }, { type: 'merge', body: { spec: { taints } } })
}

const empty = (node: string) => startEmptying({ api: fixture.api, clock: fixture.clock, tell: () => {} }, node)
const nodeOf = (name: string): Node | undefined => fixture.views.of(nodes).get(name)
const isCordoned = (name: string) => nodeOf(name)?.spec?.unschedulable === true
const markOf = (name: string) => nodeOf(name)?.metadata.annotations?.['cofferdam.io/cordoned-by']

const explained = async (name: string) => (await askExplain(fixture, `node/${name}`)).answer as NodeExplanation

/** Every replica that there ever was on the node from now on. */
function followReplicasOn(node: string): () => number {
  const view = fixture.views.of(longhornReplicas)
  const seen = new Set<string>()
  const note = () => {
    for (const { metadata, spec } of view.values()) if (spec?.nodeID === node) seen.add(metadata.name)
  }
  note()
  view.subscribe(note)
  return () => seen.size
}

describe('a node that is closed by the taint of Karpenter alone', () => {
  it('is emptied of its replicas and let go, and is as before when the taint is gone: beside a guide the eviction waited for ever', async () => {
    await open({ volumes: [three], settings: shared })
    fixture.operate({ isGuard: true })
    await fixture.use('db', 'node-2', 'node-3')
    fixture.controls.writeData('db', { blocks: 8 })
    await fixture.seconds(10)
    const start = fixture.clock.now()
    const replicasOnNode = followReplicasOn('node-1')

    await taint('node-1', 'karpenter.sh/disrupted')
    const emptying = empty('node-1')
    await fixture.seconds(5)
    expect([isCordoned('node-1'), markOf('node-1')]).toEqual([true, 'longhorn-drain'])
    await fixture.until('the evicting client is done', emptying.isOver, 300)
    await emptying.ended
    expect(fixture.placesOf('db')).toHaveLength(3)
    expect(fixture.placesOf('db')).not.toContain('node-1')
    expect(replicasOnNode()).toBe(1)
    expect(fixture.robustnessSince('db', start)).toEqual(['healthy'])
    expect(isCordoned('node-1')).toBe(true)

    await taint('node-1', null)
    await fixture.seconds(60)
    expect([isCordoned('node-1'), markOf('node-1')]).toEqual([false, undefined])
    expect([fixture.flags(), fixture.autoEvicting()]).toEqual([[], []])
    expect(fixture.guarded()).toEqual(['node-1', 'node-2', 'node-3'])
    expect(fixture.isIntact('db')).toBe(true)
    const told = await fixture.told('node-1')
    expect(told.filter((reason) => /Cordon|Yields|Taint/.test(reason))).toEqual([
      'TaintNotSeen',
      'CordonedForLonghorn',
      'LonghornCordonLifted',
    ])
  })

  it('no replica is built on it again where no other node takes one: over twenty were in a minute', async () => {
    await open({ volumes: [three] })
    fixture.operate({ isGuard: true })
    await fixture.use('db', 'node-2', 'node-3')
    await fixture.seconds(10)
    const replicasOnNode = followReplicasOn('node-1')
    await taint('node-1', 'karpenter.sh/disrupted')
    const emptying = empty('node-1')
    await fixture.seconds(120)
    expect([emptying.isOver(), replicasOnNode(), isCordoned('node-1')]).toEqual([false, 1, true])
    const { longhorn } = await explained('node-1')
    expect(longhorn?.cordon).toBe(
      'cordoned by Cofferdam, since Longhorn does not see taint karpenter.sh/disrupted (Karpenter); uncordoned when the taint is gone',
    )
    expect(longhorn?.heldBy.map(({ reason }) => reason)).toEqual(['NoPlaceForReplica'])

    await taint('node-1', null)
    await fixture.seconds(60)
    expect([isCordoned('node-1'), fixture.flags(), fixture.robustnessOf('db')]).toEqual([false, [], 'healthy'])
    expect(fixture.placesOf('db')).toEqual(['node-1', 'node-2', 'node-3'])
    expect(replicasOnNode()).toBe(1)
  })

  it('nor where Cofferdam decides: replicas were asked to leave a node that Longhorn took for open', async () => {
    await open({ volumes: [three], ownDrainHandling: false }, { annotations: {} })
    fixture.operate({ isGuard: true })
    await fixture.use('db', 'node-2', 'node-3')
    await fixture.seconds(10)
    const replicasOnNode = followReplicasOn('node-1')
    await taint('node-1', 'karpenter.sh/disrupted')
    await fixture.seconds(120)
    expect([replicasOnNode(), isCordoned('node-1')]).toEqual([1, true])
    expect(fixture.oracle.violations).toEqual([])
  })

  it('where Cofferdam only observes nothing is written, and explain says what Longhorn does not see and what to do: it said that a replica was being copied', async () => {
    await open({ volumes: [three], settings: shared }, { annotations: { 'cofferdam.io/manage': 'observe' } })
    fixture.operate({ isGuard: true })
    await fixture.use('db', 'node-2', 'node-3')
    await taint('node-1', 'karpenter.sh/disrupted')
    const emptying = empty('node-1')
    await fixture.seconds(100)
    expect([emptying.isOver(), isCordoned('node-1'), markOf('node-1'), fixture.flags()]).toEqual([
      false,
      false,
      undefined,
      [],
    ])
    const { node, blockers, longhorn } = await explained('node-1')
    expect(node.closedBy).toEqual(['taint karpenter.sh/disrupted (Karpenter)'])
    expect(longhorn).toMatchObject({ mayDrain: false, reason: 'TaintNotSeen', moving: [] })
    expect(blockers.map(({ object, reason, unblocks }) => [object, reason, unblocks])).toEqual([
      [
        'node/node-1',
        'TaintNotSeen',
        'kubectl cordon node-1; with cofferdam.io/manage=guide Cofferdam does so for the time of the drain.',
      ],
    ])

    await fixture.cordon('node-1')
    await fixture.until('the evicting client is done', emptying.isOver, 300)
    expect(fixture.placesOf('db')).not.toContain('node-1')
  })

  it('is cordoned only after the wanted policy is in force: under the mild one Longhorn would let the last copy go', async () => {
    const solo = { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], filled: 0.25 }
    const wish = { ...guide, 'cofferdam.io/wanted-policy': 'block-for-eviction' }
    await open({ volumes: [solo] }, { policy: 'always-allow', annotations: wish })
    fixture.operate({ isGuard: true })
    await fixture.seconds(10)
    await taint('node-1', 'karpenter.sh/disrupted')
    const emptying = empty('node-1')
    await fixture.until('the evicting client is done', emptying.isOver, 300)
    expect(fixture.placesOf('solo')).not.toContain('node-1')
    expect(fixture.isIntact('solo')).toBe(true)
    const reasons = await fixture.told()
    expect(reasons.indexOf('PolicyPutInForce')).toBeLessThan(reasons.indexOf('CordonedForLonghorn'))
    await taint('node-1', null)
    await fixture.seconds(30)
    expect(isCordoned('node-1')).toBe(false)
    expect(await fixture.told('node-drain-policy')).toEqual(['PolicyPutInForce', 'PolicyRestored'])
  })

  it('has nothing but a budget of Longhorn, and is let go all the same: it was held for nothing, for ever', async () => {
    await open({ volumes: [] })
    fixture.operate({ isGuard: true })
    await fixture.seconds(10)
    await taint('node-1', 'ToBeDeletedByClusterAutoscaler')
    const emptying = empty('node-1')
    await fixture.until('the evicting client is done', emptying.isOver, 120)
    await taint('node-1', null)
    await fixture.seconds(60)
    expect([isCordoned('node-1'), fixture.guarded()]).toEqual([false, ['node-1', 'node-2', 'node-3']])
  })
})

describe('the cordons of other clients', () => {
  const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }

  it('one that was there before the taint stays when the taint goes, and gets no mark', async () => {
    await open({ volumes: [pair] })
    fixture.operate()
    await fixture.cordon('node-1')
    await fixture.seconds(5)
    await taint('node-1', 'karpenter.sh/disrupted')
    await fixture.seconds(20)
    expect(markOf('node-1')).toBeUndefined()
    await taint('node-1', null)
    await fixture.seconds(20)
    expect(isCordoned('node-1')).toBe(true)
  })

  it('an uncordon is heeded until the taint is gone, and a cordon after it stays', async () => {
    await open({ volumes: [pair] })
    fixture.operate()
    await fixture.seconds(5)
    await taint('node-1', 'karpenter.sh/disrupted')
    await fixture.seconds(5)
    await fixture.cordon('node-1', false)
    await fixture.seconds(60)
    expect([isCordoned('node-1'), markOf('node-1')]).toEqual([false, 'longhorn-drain, lifted'])
    expect((await explained('node-1')).blockers.map(({ unblocks }) => unblocks)).toEqual([
      'kubectl cordon node-1; another client uncordoned it, so Cofferdam does not cordon it again until the taint is gone.',
    ])
    await fixture.cordon('node-1')
    await taint('node-1', null)
    await fixture.seconds(20)
    expect([isCordoned('node-1'), markOf('node-1')]).toEqual([true, undefined])
    expect(await fixture.told('node-1')).toContain('GuideYields')
  })

  it('one that replaced ours while no operator ran stays: the managed fields name its writer', async () => {
    await open({ volumes: [pair] })
    const operator = fixture.operate()
    await fixture.seconds(5)
    await taint('node-1', 'karpenter.sh/disrupted')
    await fixture.seconds(5)
    expect(markOf('node-1')).toBe('longhorn-drain')
    operator.kill()
    await fixture.cordon('node-1', false)
    await fixture.cordon('node-1')
    await taint('node-1', null)
    fixture.operate()
    await fixture.seconds(60)
    expect([isCordoned('node-1'), markOf('node-1')]).toEqual([true, undefined])
  })

  it('that of a request is not lifted under it when the taint goes, and the request does not count as released', async () => {
    await open({ volumes: [pair] })
    fixture.operate({ isGuard: true })
    await fixture.seconds(5)
    await taint('node-1', 'karpenter.sh/disrupted')
    await fixture.seconds(5)
    expect(markOf('node-1')).toBe('longhorn-drain')
    await fixture.request('reboot-1', { nodeName: 'node-1' })
    await fixture.until('it may go', () => fixture.phaseOf('reboot-1') === 'Drained', 300)
    await taint('node-1', null)
    await fixture.seconds(30)
    expect([isCordoned('node-1'), fixture.phaseOf('reboot-1')]).toEqual([true, 'Drained'])
    fixture.world.kubelet.reboot('node-1', 30)
    await fixture.until('it is completed', () => fixture.phaseOf('reboot-1') === 'Completed', 600)
    await fixture.seconds(30)
    expect([isCordoned('node-1'), markOf('node-1')]).toEqual([false, undefined])
  })

  it('ours is taken back where Cofferdam does not manage Longhorn any more', async () => {
    await open({ volumes: [pair] })
    fixture.operate()
    await fixture.seconds(5)
    await taint('node-1', 'karpenter.sh/disrupted')
    await fixture.seconds(5)
    expect(isCordoned('node-1')).toBe(true)
    await fixture.annotate({ 'cofferdam.io/manage': 'observe' })
    await fixture.seconds(10)
    expect([isCordoned('node-1'), markOf('node-1')]).toEqual([false, undefined])
  })
})
