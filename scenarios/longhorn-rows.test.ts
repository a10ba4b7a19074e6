import {
  longhornInstanceManagers,
  longhornNamespace,
  longhornNodes,
  longhornReplicas,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { type DrainPolicy, drainPolicies } from '@cofferdam/product/capabilities/longhorn-drain/domain/snapshot.ts'
import { budget } from '@cofferdam/simulator/world/testing/story.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { nodeOfBudget } from './testing/longhorn-oracle.ts'
import { expectNothingBroken, isHeldFor, mib, openAttended, pair, single, trio } from './testing/longhorn-rows.ts'
import { type LonghornStage, openLonghornStage } from './testing/longhorn-stage.ts'

let stage: LonghornStage
afterEach(() => stage.close())

const slowly = { rebuildBytesPerSecond: 2 * mib }

async function open(...asked: Parameters<typeof openAttended>): Promise<void> {
  stage = await openAttended(...asked)
}

describe('flags', () => {
  it('every replica of a cordoned node is told to go, the clone as well as its source (2)', async () => {
    const clone = { ...single, name: 'solo-clone' }
    await open({ volumes: [single, clone], timings: slowly })
    await stage.use('solo', 'node-2')
    await stage.use('solo-clone', 'node-3')
    await stage.cordon('node-1')
    await stage.seconds(5)
    expect(stage.flags()).toEqual(['solo on node-1', 'solo-clone on node-1'])
    expectNothingBroken(stage, 'solo', 'solo-clone')
  })

  it('where no budget was ever made, last copies of a cordoned node move, and a copy that gets a budget now is spared the way (3)', async () => {
    stage = await openLonghornStage(
      { volumes: [single, { ...single, name: 'solo-clone' }, pair], timings: slowly },
      { policy: 'block-for-eviction-if-contains-last-replica' },
    )
    await stage.cordon('node-1')
    expect(stage.guarded()).toEqual([])
    stage.operate()
    await stage.seconds(5)
    expect(stage.flags()).toEqual(['solo on node-1', 'solo-clone on node-1'])
    expectNothingBroken(stage)
  })

  it('an uncordoned node takes all back: its replicas are told to stay, and it says so (4)', async () => {
    await open({ volumes: [pair], timings: slowly })
    await stage.use('db', 'node-2')
    const replica = stage.replicaOn('db', 'node-1')
    await stage.cordon('node-1')
    await stage.seconds(5)
    expect([stage.flags(), stage.autoEvicting()]).toEqual([['db on node-1'], ['node-1']])
    await stage.cordon('node-1', false)
    await stage.seconds(5)
    expect([stage.flags(), stage.autoEvicting()]).toEqual([[], []])
    expect(await stage.told(replica)).toEqual(['EvictionAutomatic', 'EvictionCanceled'])
    expectNothingBroken(stage, 'db')
  })

  it('a policy that moves nothing takes the flags down, although the node stays cordoned (7)', async () => {
    await open({ volumes: [pair], timings: slowly })
    await stage.use('db', 'node-2')
    const replica = stage.replicaOn('db', 'node-1')
    await stage.cordon('node-1')
    await stage.seconds(5)
    await stage.setPolicy('block-if-contains-last-replica')
    await stage.seconds(5)
    expect([stage.flags(), stage.autoEvicting()]).toEqual([[], []])
    expect(await stage.told(replica)).toEqual(['EvictionAutomatic', 'EvictionCanceled'])
    expectNothingBroken(stage, 'db')
  })

  it('as long as nothing changes nothing is written and nothing is told (10)', async () => {
    await open({ volumes: [trio] })
    await stage.use('trio', 'node-2')
    await stage.cordon('node-1')
    await stage.seconds(30)
    const versionsOf = <T extends KubeObject>(type: ResourceType<T>) =>
      [...stage.views.of(type).values()].map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
    const versions = () => [
      ...versionsOf(longhornReplicas),
      ...versionsOf(longhornNodes),
      ...versionsOf(podDisruptionBudgets),
    ]
    const before = [versions(), stage.guarded(), await stage.told()]
    await stage.seconds(900)
    expect([versions(), stage.guarded(), await stage.told()]).toEqual(before)
    expectNothingBroken(stage, 'trio')
  })

  it('a replica bound to its node holds it for as long as it is cordoned, and is as before when it is open (35)', async () => {
    await open({ volumes: [{ ...single, dataLocality: 'strict-local' }] })
    await stage.use('solo', 'node-1')
    const drain = await isHeldFor(stage, 'node-1', 90)
    expect([stage.flags(), stage.autoEvicting()]).toEqual([['solo on node-1'], ['node-1']])
    expect((await stage.told('node-1')).at(-1)).toBe('StrictLocalReplica')
    drain.giveUp()
    await stage.cordon('node-1', false)
    await stage.until('solo is healthy', () => stage.robustnessOf('solo') === 'healthy', 60)
    await stage.seconds(5)
    expect([stage.placesOf('solo'), stage.flags()]).toEqual([['node-1'], []])
    expectNothingBroken(stage, 'solo')
  })
})

describe('budgets', () => {
  it('an open node has a budget while its instance manager runs, and keeps it while that is away (11)', async () => {
    await open({ volumes: [pair] })
    expect(stage.guarded()).toEqual(['node-1', 'node-2', 'node-3'])
    stage.world.kubelet.powerOff('node-3')
    await stage.seconds(120)
    const away = [...stage.views.of(longhornInstanceManagers).values()].find(({ spec }) => spec?.nodeID === 'node-3')
    expect(away?.status?.currentState).not.toBe('running')
    expect(stage.guarded()).toEqual(['node-1', 'node-2', 'node-3'])
    expectNothingBroken(stage, 'db')
  })

  it('the budget of an instance manager that is gone for good is removed, and budgets of others stay (12)', async () => {
    await open({ volumes: [pair] })
    const foreign = { ...budget('web', { minAvailable: 1 }), metadata: { name: 'web', namespace: longhornNamespace } }
    await stage.api.create(podDisruptionBudgets, foreign)
    stage.controls.setImage('longhornio/longhorn-instance-manager:v9')
    await stage.until('all have moved to the new image', () => stage.guarded().length === 3, 120)
    await stage.seconds(60)
    const managers = [...stage.views.of(longhornInstanceManagers).values()].map(({ metadata }) => metadata.name)
    const budgets = [...stage.views.of(podDisruptionBudgets).values()]
    const ours = budgets.filter((one) => nodeOfBudget(one) !== undefined).map(({ metadata }) => metadata.name)
    expect(ours.sort()).toEqual(managers.sort())
    expect(budgets.map(({ metadata }) => metadata.name)).toContain('web')
    expectNothingBroken(stage, 'db')
  })

  it.each(drainPolicies)('under %s an engine holds its node, and with it goes the budget (13)', async (policy) => {
    await open({ volumes: [{ ...pair, placedOn: ['node-2', 'node-3'] }] }, { policy })
    await stage.controls.attach('db', 'node-1', 'ui')
    await stage.until('db is healthy', () => stage.robustnessOf('db') === 'healthy', 60)
    const drain = await isHeldFor(stage, 'node-1', 60)
    expect((await stage.told('node-1')).at(-1)).toBe('VolumeAttached')
    await stage.controls.detach('db', 'ui')
    await stage.until('the drain is over', drain.isOver, 60)
    expectNothingBroken(stage, 'db')
  })

  it('of a volume with three copies one node after the other goes and comes back by default (14)', async () => {
    await open({ volumes: [trio] }, { policy: 'block-if-contains-last-replica' })
    await stage.use('trio')
    for (const node of ['node-1', 'node-2', 'node-3']) {
      stage.controls.writeData('trio')
      await stage.drained(node, 120)
      await stage.seconds(20)
      await stage.cordon(node, false)
      await stage.until('trio is healthy', () => stage.robustnessOf('trio') === 'healthy', 120)
    }
    expect(stage.placesOf('trio')).toEqual(['node-1', 'node-2', 'node-3'])
    expectNothingBroken(stage, 'trio')
  })

  const withOnlyCopy: readonly (readonly [DrainPolicy, 'blocks' | 'passes'])[] = [
    ['block-if-contains-last-replica', 'blocks'],
    ['allow-if-replica-is-stopped', 'blocks'],
    ['always-allow', 'passes'],
  ]
  it.each(withOnlyCopy)('the only copy of a volume in use elsewhere: %s %s (15)', async (policy, outcome) => {
    await open({ volumes: [single] }, { policy })
    await stage.use('solo', 'node-2')
    const drain = stage.drain('node-1')
    await stage.seconds(60)
    expect(drain.isOver()).toBe(outcome === 'passes')
    expect(stage.oracle.violations).toEqual([])
  })

  const aloneOnNode: readonly (readonly [DrainPolicy, 'blocks' | 'passes'])[] = [
    ['block-if-contains-last-replica', 'blocks'],
    ['allow-if-replica-is-stopped', 'passes'],
    ['always-allow', 'passes'],
  ]
  it.each(aloneOnNode)(
    'a cluster of one node, volumes in use and not, drained: %s %s, and the budgets of CSI are there only while a volume is attached (16)',
    async (policy, outcome) => {
      await open({ volumes: [single, { ...single, name: 'idle' }] }, { policy, nodeCount: 1 })
      await stage.use('solo')
      const csi = () =>
        [...stage.views.of(podDisruptionBudgets).values()]
          .map(({ metadata }) => metadata.name)
          .filter((name) => name.startsWith('csi-'))
          .sort()
      expect(csi()).toEqual(['csi-attacher', 'csi-provisioner'])
      const drain = stage.drain('node-1')
      await stage.seconds(90)
      expect(drain.isOver()).toBe(outcome === 'passes')
      expect(csi()).toEqual([])
      await stage.cordon('node-1', false)
      await stage.until('solo is attached again', () => stage.volume('solo').status?.state === 'attached', 120)
      await stage.seconds(10)
      expectNothingBroken(stage, 'solo')
    },
  )

  it('of two copies at rest one is on a machine that is off: the other holds its node, until everything is allowed (17)', async () => {
    await open({ volumes: [pair] }, { policy: 'block-if-contains-last-replica' })
    await stage.use('db', 'node-3')
    await stage.disuse('db')
    stage.world.kubelet.powerOff('node-1')
    await stage.seconds(90)
    const drain = await isHeldFor(stage, 'node-2', 120)
    expect(stage.placesOf('db')).toEqual(['node-1', 'node-2'])
    expect(stage.oracle.violations).toEqual([])
    await stage.setPolicy('always-allow')
    await stage.until('the drain is over', drain.isOver, 30)
    expect(stage.guarded()).not.toContain('node-2')
    expect(stage.oracle.violations).toEqual([])
  })

  it('a volume that was never attached holds no node, even if all of them go (19)', async () => {
    await open(
      { volumes: [{ ...pair, filled: 0, placedOn: ['node-1', 'node-2'] }] },
      { policy: 'block-if-contains-last-replica' },
    )
    for (const node of ['node-1', 'node-2', 'node-3']) await stage.drained(node, 60)
    expect(stage.guarded()).toEqual([])
    expect(stage.oracle.violations).toEqual([])
  })

  it.each([
    ['stopped', 'passes'],
    ['error', 'blocks'],
  ] as const)(
    'the last copy is to be stopped and its state is %s: the drain %s (23)',
    async (currentState, outcome) => {
      await open({ volumes: [single] }, { policy: 'allow-if-replica-is-stopped' })
      stage.stopLonghorn()
      const key = { namespace: longhornNamespace, name: stage.replicaOn('solo', 'node-1') }
      const body = { status: { currentState } }
      await stage.api.patch(longhornReplicas, key, { type: 'merge', body }, { subresource: 'status' })
      await stage.seconds(1)
      const drain = stage.drain('node-1')
      await stage.seconds(60)
      expect(drain.isOver()).toBe(outcome === 'passes')
      expect(stage.oracle.violations).toEqual([])
    },
  )

  it('a failed copy holds the node under block-for-eviction until Longhorn has given it up, though the volume is whole (24)', async () => {
    await open({ volumes: [{ ...pair, staleReplicaTimeout: 20 }] })
    await stage.use('db', 'node-2')
    const drain = stage.drain('node-1')
    await stage.clock.advance(50)
    stage.controls.failReplica(stage.replicaOn('db', 'node-1'))
    await stage.until(
      'a new copy is whole',
      () => stage.robustnessOf('db') === 'healthy' && stage.placesOf('db').includes('node-3'),
      900,
    )
    await stage.seconds(60)
    expect([drain.isOver(), stage.placesOf('db')]).toEqual([false, ['node-1', 'node-2', 'node-3']])
    await stage.until('the drain is over', drain.isOver, 1_500)
    expect(stage.placesOf('db')).toEqual(['node-2', 'node-3'])
    expectNothingBroken(stage, 'db')
  })

  it('a copy that is only being built holds no node while a whole one is elsewhere (25)', async () => {
    await open({ volumes: [pair] }, { policy: 'block-if-contains-last-replica' })
    await stage.use('db', 'node-2')
    stage.controls.setRate(mib)
    stage.controls.failReplica(stage.replicaOn('db', 'node-1'))
    await stage.until(
      'it is being rebuilt',
      () => stage.replicasOf('db').every(({ spec }) => spec?.failedAt === ''),
      60,
    )
    await stage.drained('node-1', 30)
    expect(stage.robustnessOf('db')).toBe('degraded')
    expectNothingBroken(stage, 'db')
  })
})
