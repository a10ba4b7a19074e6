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
import { budget } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'
import { isHold, nodeOfBudget } from './testing/longhorn-oracle.ts'
import { expectNothingBroken, isHeldFor, mib, openAttended, pair, single, trio } from './testing/longhorn-rows.ts'

let fixture: LonghornFixture
afterEach(() => fixture.close())

const slowly = { rebuildBytesPerSecond: 2 * mib }

async function open(...asked: Parameters<typeof openAttended>): Promise<void> {
  fixture = await openAttended(...asked)
}

describe('flags', () => {
  it('every replica of a cordoned node is told to go, the clone as well as its source (2)', async () => {
    const clone = { ...single, name: 'solo-clone' }
    await open({ volumes: [single, clone], timings: slowly })
    await fixture.use('solo', 'node-2')
    await fixture.use('solo-clone', 'node-3')
    await fixture.cordon('node-1')
    await fixture.seconds(5)
    expect(fixture.flags()).toEqual(['solo on node-1', 'solo-clone on node-1'])
    expectNothingBroken(fixture, 'solo', 'solo-clone')
  })

  it('where Longhorn has let a cordoned node go before anybody came, its last copies are held by budgets of Cofferdam, and move (3)', async () => {
    fixture = await openLonghornFixture(
      { volumes: [single, { ...single, name: 'solo-clone' }, pair], timings: slowly },
      { policy: 'always-allow' },
    )
    await fixture.cordon('node-1')
    await fixture.seconds(40)
    expect(fixture.guarded()).toEqual(['node-2', 'node-3'])
    await fixture.setPolicy('block-for-eviction-if-contains-last-replica')
    fixture.operate({ isGuard: true })
    await fixture.seconds(5)
    expect(fixture.held()).toEqual(['node-1'])
    expect(fixture.flags()).toEqual(['solo on node-1', 'solo-clone on node-1'])
    const drain = await isHeldFor(fixture, 'node-1', 20)
    await fixture.until('the drain is over', drain.isOver, 300)
    expect([...fixture.placesOf('solo'), ...fixture.placesOf('solo-clone')]).not.toContain('node-1')
    expectNothingBroken(fixture, 'solo', 'solo-clone')
  })

  it('an uncordoned node takes all back: its replicas are told to stay, and it says so (4)', async () => {
    await open({ volumes: [pair], timings: slowly })
    await fixture.use('db', 'node-2')
    const replica = fixture.replicaOn('db', 'node-1')
    await fixture.cordon('node-1')
    await fixture.seconds(5)
    expect([fixture.flags(), fixture.autoEvicting()]).toEqual([['db on node-1'], ['node-1']])
    await fixture.cordon('node-1', false)
    await fixture.seconds(5)
    expect([fixture.flags(), fixture.autoEvicting()]).toEqual([[], []])
    expect(await fixture.toldByLonghorn(replica)).toEqual(['EvictionAutomatic', 'EvictionCanceled'])
    expectNothingBroken(fixture, 'db')
  })

  it('a policy that moves nothing takes the flags down, although the node stays cordoned (7)', async () => {
    await open({ volumes: [pair], timings: slowly })
    await fixture.use('db', 'node-2')
    const replica = fixture.replicaOn('db', 'node-1')
    await fixture.cordon('node-1')
    await fixture.seconds(5)
    await fixture.setPolicy('block-if-contains-last-replica')
    await fixture.seconds(5)
    expect([fixture.flags(), fixture.autoEvicting()]).toEqual([[], []])
    expect(await fixture.toldByLonghorn(replica)).toEqual(['EvictionAutomatic', 'EvictionCanceled'])
    expectNothingBroken(fixture, 'db')
  })

  it('as long as nothing changes nothing is written and nothing is told (10)', async () => {
    await open({ volumes: [trio] })
    await fixture.use('trio', 'node-2')
    await fixture.cordon('node-1')
    await fixture.seconds(30)
    const versionsOf = <T extends KubeObject>(type: ResourceType<T>) =>
      [...fixture.views.of(type).values()].map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
    const versions = () => [
      ...versionsOf(longhornReplicas),
      ...versionsOf(longhornNodes),
      ...versionsOf(podDisruptionBudgets),
    ]
    const before = [versions(), fixture.guarded(), await fixture.told()]
    await fixture.seconds(900)
    expect([versions(), fixture.guarded(), await fixture.told()]).toEqual(before)
    expectNothingBroken(fixture, 'trio')
  })

  it('a replica bound to its node holds it for as long as it is cordoned, and is as before when it is open (35)', async () => {
    // A released Longhorn attaches it for a move that cannot be; then that is what holds the node.
    await open({ attachForEviction: 'healthy', volumes: [{ ...single, dataLocality: 'strict-local' }] })
    await fixture.use('solo', 'node-1')
    const drain = await isHeldFor(fixture, 'node-1', 90)
    expect([fixture.flags(), fixture.autoEvicting()]).toEqual([['solo on node-1'], ['node-1']])
    expect((await fixture.told('node-1')).at(-1)).toBe('StrictLocalReplica')
    drain.giveUp()
    await fixture.cordon('node-1', false)
    await fixture.until('solo is healthy', () => fixture.robustnessOf('solo') === 'healthy', 60)
    await fixture.seconds(5)
    expect([fixture.placesOf('solo'), fixture.flags()]).toEqual([['node-1'], []])
    expectNothingBroken(fixture, 'solo')
  })
})

describe('budgets', () => {
  it('an open node has a budget while its instance manager runs, and keeps it while that is away (11)', async () => {
    await open({ volumes: [pair] })
    expect(fixture.guarded()).toEqual(['node-1', 'node-2', 'node-3'])
    fixture.world.kubelet.powerOff('node-3')
    await fixture.seconds(120)
    const away = [...fixture.views.of(longhornInstanceManagers).values()].find(({ spec }) => spec?.nodeID === 'node-3')
    expect(away?.status?.currentState).not.toBe('running')
    expect(fixture.guarded()).toEqual(['node-1', 'node-2', 'node-3'])
    expectNothingBroken(fixture, 'db')
  })

  it('the budget of an instance manager that is gone for good is removed, and budgets of others stay (12)', async () => {
    await open({ volumes: [pair] })
    const foreign = { ...budget('web', { minAvailable: 1 }), metadata: { name: 'web', namespace: longhornNamespace } }
    await fixture.api.create(podDisruptionBudgets, foreign)
    await fixture.controls.setImage('longhornio/longhorn-instance-manager:v9')
    await fixture.until('all have moved to the new image', () => fixture.guarded().length === 3, 120)
    await fixture.seconds(60)
    const managers = [...fixture.views.of(longhornInstanceManagers).values()].map(({ metadata }) => metadata.name)
    const budgets = [...fixture.views.of(podDisruptionBudgets).values()]
    const theirs = budgets.filter((one) => nodeOfBudget(one) !== undefined && !isHold(one))
    expect(theirs.map(({ metadata }) => metadata.name).sort()).toEqual(managers.sort())
    expect(fixture.held()).toEqual([])
    expect(budgets.map(({ metadata }) => metadata.name)).toContain('web')
    expectNothingBroken(fixture, 'db')
  })

  it.each(drainPolicies)('under %s an engine holds its node, and with it goes the budget (13)', async (policy) => {
    await open({ volumes: [{ ...pair, placedOn: ['node-2', 'node-3'] }] }, { policy })
    await fixture.controls.attach('db', 'node-1', 'ui')
    await fixture.until('db is healthy', () => fixture.robustnessOf('db') === 'healthy', 60)
    const drain = await isHeldFor(fixture, 'node-1', 60)
    expect((await fixture.told('node-1')).at(-1)).toBe('VolumeAttached')
    await fixture.controls.detach('db', 'ui')
    await fixture.until('the drain is over', drain.isOver, 60)
    expectNothingBroken(fixture, 'db')
  })

  it('of a volume with three copies one node after the other goes and comes back by default (14)', async () => {
    await open({ volumes: [trio] }, { policy: 'block-if-contains-last-replica' })
    await fixture.use('trio')
    for (const node of ['node-1', 'node-2', 'node-3']) {
      fixture.controls.writeData('trio')
      await fixture.drained(node, 120)
      await fixture.seconds(20)
      await fixture.cordon(node, false)
      await fixture.until('trio is healthy', () => fixture.robustnessOf('trio') === 'healthy', 120)
    }
    expect(fixture.placesOf('trio')).toEqual(['node-1', 'node-2', 'node-3'])
    expectNothingBroken(fixture, 'trio')
  })

  const withOnlyCopy: readonly (readonly [DrainPolicy, 'blocks' | 'passes'])[] = [
    ['block-if-contains-last-replica', 'blocks'],
    ['allow-if-replica-is-stopped', 'blocks'],
    ['always-allow', 'passes'],
  ]
  it.each(withOnlyCopy)('the only copy of a volume in use elsewhere: %s %s (15)', async (policy, outcome) => {
    await open({ volumes: [single] }, { policy })
    await fixture.use('solo', 'node-2')
    const drain = fixture.drain('node-1')
    await fixture.seconds(60)
    expect(drain.isOver()).toBe(outcome === 'passes')
    expect(fixture.oracle.violations).toEqual([])
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
      await fixture.use('solo')
      const csi = () =>
        [...fixture.views.of(podDisruptionBudgets).values()]
          .map(({ metadata }) => metadata.name)
          .filter((name) => name.startsWith('csi-'))
          .sort()
      expect(csi()).toEqual(['csi-attacher', 'csi-provisioner'])
      const drain = fixture.drain('node-1')
      await fixture.seconds(90)
      expect(drain.isOver()).toBe(outcome === 'passes')
      expect(csi()).toEqual([])
      await fixture.cordon('node-1', false)
      await fixture.until('solo is attached again', () => fixture.volume('solo').status?.state === 'attached', 120)
      await fixture.seconds(10)
      expectNothingBroken(fixture, 'solo')
    },
  )

  it('of two copies at rest one is on a machine that is off: the other holds its node, until everything is allowed (17)', async () => {
    await open({ volumes: [pair] }, { policy: 'block-if-contains-last-replica' })
    await fixture.use('db', 'node-3')
    await fixture.disuse('db')
    fixture.world.kubelet.powerOff('node-1')
    await fixture.seconds(90)
    const drain = await isHeldFor(fixture, 'node-2', 120)
    expect(fixture.placesOf('db')).toEqual(['node-1', 'node-2'])
    expect(fixture.oracle.violations).toEqual([])
    await fixture.setPolicy('always-allow')
    await fixture.until('the drain is over', drain.isOver, 30)
    expect(fixture.guarded()).not.toContain('node-2')
    expect(fixture.oracle.violations).toEqual([])
  })

  it('a volume that was never attached holds no node, even if all of them go (19)', async () => {
    await open(
      { volumes: [{ ...pair, filled: 0, placedOn: ['node-1', 'node-2'] }] },
      { policy: 'block-if-contains-last-replica' },
    )
    for (const node of ['node-1', 'node-2', 'node-3']) await fixture.drained(node, 60)
    expect(fixture.guarded()).toEqual([])
    expect(fixture.oracle.violations).toEqual([])
  })

  it.each([
    ['stopped', 'ReplicasProtected'],
    ['error', 'LastReplica'],
  ] as const)(
    'the last copy is to be stopped and its state is %s: the answer is %s, and Longhorn, which stands still, keeps the node (23)',
    async (currentState, answer) => {
      await open({ volumes: [single] }, { policy: 'allow-if-replica-is-stopped' })
      fixture.stopLonghorn()
      const key = { namespace: longhornNamespace, name: fixture.replicaOn('solo', 'node-1') }
      const body = { status: { currentState } }
      await fixture.api.patch(longhornReplicas, key, { type: 'merge', body }, { subresource: 'status' })
      await fixture.seconds(1)
      await isHeldFor(fixture, 'node-1', 60)
      expect((await fixture.told('node-1')).filter((reason) => reason !== 'LonghornStuck').at(-1)).toBe(answer)
      expect(fixture.held()).toEqual([])
      expect(fixture.oracle.violations).toEqual([])
    },
  )

  it('a failed copy holds the node under block-for-eviction until Longhorn has given it up, though the volume is whole (24)', async () => {
    await open({ volumes: [{ ...pair, staleReplicaTimeout: 20 }] })
    await fixture.use('db', 'node-2')
    const drain = fixture.drain('node-1')
    await fixture.clock.advance(50)
    fixture.controls.failReplica(fixture.replicaOn('db', 'node-1'))
    await fixture.until(
      'a new copy is whole',
      () => fixture.robustnessOf('db') === 'healthy' && fixture.placesOf('db').includes('node-3'),
      900,
    )
    await fixture.seconds(60)
    expect([drain.isOver(), fixture.placesOf('db')]).toEqual([false, ['node-1', 'node-2', 'node-3']])
    await fixture.until('the drain is over', drain.isOver, 1_500)
    expect(fixture.placesOf('db')).toEqual(['node-2', 'node-3'])
    expectNothingBroken(fixture, 'db')
  })

  it('a copy that is only being built holds no node while a whole one is elsewhere (25)', async () => {
    await open({ volumes: [pair] }, { policy: 'block-if-contains-last-replica' })
    await fixture.use('db', 'node-2')
    fixture.controls.setRate(mib)
    fixture.controls.failReplica(fixture.replicaOn('db', 'node-1'))
    await fixture.until(
      'it is being rebuilt',
      () => fixture.replicasOf('db').every(({ spec }) => spec?.failedAt === ''),
      60,
    )
    await fixture.drained('node-1', 30)
    expect(fixture.robustnessOf('db')).toBe('degraded')
    expectNothingBroken(fixture, 'db')
  })
})
