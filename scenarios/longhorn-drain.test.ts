import { longhornNamespace, longhornNodes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { restoresAnnotation } from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { askedAnnotation } from '@cofferdam/product/capabilities/longhorn-drain/domain/guidance-marks.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'

let fixture: LonghornFixture
afterEach(() => fixture.close())

const slowly = { rebuildBytesPerSecond: 16 * 1024 ** 2 }
const mib = 1024 ** 2
const roleBindings = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
}

describe('the test plans of the design', () => {
  it('block-for-eviction: the replica moves while the drain waits, and the volume is never degraded (26)', async () => {
    fixture = await openLonghornFixture({
      volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }],
      timings: slowly,
    })
    fixture.operate({ isGuard: true })
    await fixture.use('db', 'node-2')
    fixture.controls.writeData('db', { blocks: 8 })
    await fixture.seconds(10)
    const leaving = fixture.replicaOn('db', 'node-1')

    fixture.trace.chapter('node-1 is drained')
    const start = fixture.clock.now()
    const drain = fixture.drain('node-1')
    await fixture.seconds(3)
    const moving: unknown[] = []
    while (fixture.placesOf('db').includes('node-1')) {
      moving.push([drain.isOver(), fixture.autoEvicting(), fixture.flags()])
      await fixture.seconds(1)
    }
    expect(moving.length).toBeGreaterThan(5)
    for (const seen of moving) expect(seen).toEqual([false, ['node-1'], ['db on node-1']])
    // Longhorn comes back to its budgets every half minute.
    await fixture.until('the drain is over', drain.isOver, 60)
    await drain.ended
    expect(fixture.robustnessSince('db', start)).toEqual(['healthy'])

    fixture.trace.chapter('node-1 is uncordoned')
    await fixture.cordon('node-1', false)
    await fixture.seconds(60)
    expect(fixture.placesOf('db')).toEqual(['node-2', 'node-3'])
    expect([fixture.autoEvicting(), fixture.flags()]).toEqual([[], []])
    expect(fixture.robustnessSince('db', start)).toEqual(['healthy'])
    expect(fixture.isIntact('db')).toBe(true)
    expect(await fixture.toldByLonghorn(leaving)).toEqual(['EvictionAutomatic'])
    expect(fixture.held()).toEqual([])
    expect(fixture.guarded()).toEqual(['node-1', 'node-2', 'node-3'])
    expect([fixture.oracle.rebuilds(), fixture.oracle.violations]).toEqual([1, []])
    await expect(fixture.trace.text()).toMatchFileSnapshot('./longhorn-block-for-eviction.golden.txt')
  })

  // The design counts two events EvictionAutomatic and one EvictionCanceled. Its second pair belongs to the volume with three
  // replicas and comes only where its other copies are not seen as protected for a moment. Here all nodes are decided about
  // at once and such a moment does not show, so the replica that stays is never told to go, and never told to stay.
  it('block-for-eviction-if-contains-last-replica: the only replica moves, one of three stays, and nobody speaks of it (9)', async () => {
    fixture = await openLonghornFixture(
      {
        volumes: [
          { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], filled: 0.25 },
          { name: 'trio', numberOfReplicas: 3, placedOn: ['node-1', 'node-2', 'node-3'], filled: 0.25 },
        ],
        timings: slowly,
      },
      { nodeCount: 4, policy: 'block-for-eviction-if-contains-last-replica' },
    )
    fixture.operate({ isGuard: true })
    await fixture.use('solo', 'node-4')
    await fixture.use('trio', 'node-2')
    for (const volume of ['solo', 'trio']) fixture.controls.writeData(volume, { blocks: 8 })
    await fixture.seconds(10)
    const [moved = '', stayed = ''] = ['solo', 'trio'].map((volume) => fixture.replicaOn(volume, 'node-1'))
    const names = fixture.replicasOf('trio').map(({ metadata }) => metadata.name)

    fixture.trace.chapter('node-1 is drained')
    const start = fixture.clock.now()
    const drain = fixture.drain('node-1')
    await fixture.seconds(3)
    const moving: unknown[] = []
    while (fixture.placesOf('solo').includes('node-1')) {
      moving.push([drain.isOver(), fixture.autoEvicting(), fixture.flags()])
      await fixture.seconds(1)
    }
    expect(moving.length).toBeGreaterThan(5)
    for (const seen of moving) expect(seen).toEqual([false, ['node-1'], ['solo on node-1']])
    // Longhorn comes back to its budgets every half minute.
    await fixture.until('the drain is over', drain.isOver, 60)
    await drain.ended
    await fixture.seconds(10)
    expect(fixture.robustnessSince('solo', start)).toEqual(['healthy'])
    expect(fixture.robustnessSince('trio', start)).toEqual(['healthy', 'degraded'])

    fixture.trace.chapter('node-1 is uncordoned')
    await fixture.cordon('node-1', false)
    await fixture.until('trio is healthy', () => fixture.robustnessOf('trio') === 'healthy', 120)
    await fixture.seconds(10)
    expect(fixture.placesOf('solo')).not.toContain('node-1')
    expect(fixture.replicasOf('trio').map(({ metadata }) => metadata.name)).toEqual(names)
    expect([fixture.autoEvicting(), fixture.flags()]).toEqual([[], []])
    expect(fixture.isIntact('solo', 'trio')).toBe(true)
    // Longhorn calls it off as soon as the new copy counts, by when the old one is being deleted.
    expect((await fixture.toldByLonghorn(moved)).slice(0, 1)).toEqual(['EvictionAutomatic'])
    expect(await fixture.toldByLonghorn(stayed)).toEqual([])
    expect([fixture.oracle.rebuilds(), fixture.oracle.violations]).toEqual([2, []])
    await expect(fixture.trace.text()).toMatchFileSnapshot('./longhorn-last-replica.golden.txt')
  })

  it('unschedulable: the drain never ends, and uncordoned the volume is as healthy as before (28)', async () => {
    fixture = await openLonghornFixture({
      volumes: [{ name: 'trio', numberOfReplicas: 3, placedOn: ['node-1', 'node-2', 'node-3'], filled: 0.25 }],
      timings: slowly,
    })
    fixture.operate({ isGuard: true })
    await fixture.use('trio', 'node-2')
    fixture.controls.writeData('trio', { blocks: 8 })
    await fixture.seconds(10)
    const names = fixture.replicasOf('trio').map(({ metadata }) => metadata.name)
    const leaving = fixture.replicaOn('trio', 'node-1')

    fixture.trace.chapter('node-1 is drained')
    const drain = fixture.drain('node-1')
    await fixture.seconds(3)
    for (let minute = 0; minute < 15; minute += 1) {
      await fixture.seconds(60)
      expect([drain.isOver(), fixture.autoEvicting(), fixture.flags()]).toEqual([false, ['node-1'], ['trio on node-1']])
    }

    fixture.trace.chapter('The drain is given up and node-1 is uncordoned')
    drain.giveUp()
    await fixture.cordon('node-1', false)
    await fixture.seconds(30)
    expect(fixture.robustnessOf('trio')).toBe('healthy')
    expect([fixture.autoEvicting(), fixture.flags()]).toEqual([[], []])
    expect(fixture.replicasOf('trio').map(({ metadata }) => metadata.name)).toEqual(names)
    expect(fixture.isIntact('trio')).toBe(true)
    expect(await fixture.toldByLonghorn(leaving)).toEqual(['EvictionAutomatic', 'EvictionCanceled'])
    expect([fixture.oracle.rebuilds(), fixture.oracle.violations]).toEqual([0, []])
    await expect(fixture.trace.text()).toMatchFileSnapshot('./longhorn-unschedulable.golden.txt')
  })
})

describe('the oracle', () => {
  it('sees a budget that goes with the only copy under it, and the copy that is then lost', async () => {
    fixture = await openLonghornFixture(
      { volumes: [{ name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], sizeBytes: 64 * mib }] },
      { policy: 'block-if-contains-last-replica' },
    )
    const operator = fixture.operate()
    await fixture.use('solo', 'node-2')
    operator.kill()
    const [budget] = [...fixture.views.of(podDisruptionBudgets).values()].filter(
      ({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node'] === 'node-1',
    )
    const namespace = longhornNamespace
    await fixture.api.delete(podDisruptionBudgets, { namespace, name: budget?.metadata.name ?? '' })
    await fixture.drained('node-1')
    await fixture.seconds(5)
    expect(fixture.oracle.violations).toEqual([
      'the budget of node-1 went, and no other covers a copy of solo',
      'solo was left without a healthy copy when the one on node-1 failed',
    ])
  })

  it('sees bytes that are not those that were written', async () => {
    fixture = await openLonghornFixture({
      volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }],
    })
    fixture.operate()
    await fixture.use('db', 'node-2')
    await fixture.seconds(10)
    fixture.controls.corruptBlock(fixture.replicaOn('db', 'node-2'), 3)
    await fixture.drained('node-1')
    expect(fixture.oracle.violations).toEqual(['db has other bytes than were written, in 2 copies'])
  })

  it('sees an instance manager with a last copy and without a budget, and what was asked for a drain and is not taken back', async () => {
    fixture = await openLonghornFixture(
      { volumes: [{ name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], sizeBytes: 64 * mib }] },
      { policy: 'always-allow' },
    )
    // An operator without any rights in the namespace is as good as one that forgets.
    await fixture.api.deleteCollection(roleBindings, { namespace: longhornNamespace })
    fixture.operate()
    await fixture.use('solo', 'node-2')
    await fixture.cordon('node-1')
    await fixture.seconds(5)
    const mark = { metadata: { annotations: { [askedAnnotation]: '{"disks":{}}' } } }
    await fixture.api.patch(
      longhornNodes,
      { namespace: longhornNamespace, name: 'node-2' },
      { type: 'merge', body: mark },
    )
    await fixture.annotate({ [restoresAnnotation]: 'always-allow' })
    await fixture.setPolicy('block-if-contains-last-replica')
    await fixture.seconds(5)
    await fixture.cordon('node-1', false)
    await fixture.seconds(10)
    expect(fixture.oracle.violations).toEqual([
      'the instance manager of node-1 has the last copy of solo, and no budget',
      'node-2 takes pods, and its disks are still asked for',
      'no node leaves, and block-if-contains-last-replica is still in force',
    ])
  })
})
