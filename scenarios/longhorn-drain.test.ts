import { longhornNamespace, longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { manageAnnotation } from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type LonghornStage, openLonghornStage } from './testing/longhorn-stage.ts'

let stage: LonghornStage
afterEach(() => stage.close())

const slowly = { rebuildBytesPerSecond: 16 * 1024 ** 2 }
const mib = 1024 ** 2

describe('the test plans of the design', () => {
  it('block-for-eviction: the replica moves while the drain waits, and the volume is never degraded (26)', async () => {
    stage = await openLonghornStage({
      volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }],
      timings: slowly,
    })
    stage.operate({ isGuard: true })
    await stage.use('db', 'node-2')
    stage.controls.writeData('db', { blocks: 8 })
    await stage.seconds(10)
    const leaving = stage.replicaOn('db', 'node-1')

    stage.trace.chapter('node-1 is drained')
    const start = stage.clock.now()
    const drain = stage.drain('node-1')
    await stage.seconds(3)
    const moving: unknown[] = []
    while (stage.placesOf('db').includes('node-1')) {
      moving.push([drain.isOver(), stage.autoEvicting(), stage.flags()])
      await stage.seconds(1)
    }
    expect(moving.length).toBeGreaterThan(5)
    for (const seen of moving) expect(seen).toEqual([false, ['node-1'], ['db on node-1']])
    await stage.until('the drain is over', drain.isOver, 30)
    await drain.ended
    expect(stage.robustnessSince('db', start)).toEqual(['healthy'])

    stage.trace.chapter('node-1 is uncordoned')
    await stage.cordon('node-1', false)
    await stage.seconds(60)
    expect(stage.placesOf('db')).toEqual(['node-2', 'node-3'])
    expect([stage.autoEvicting(), stage.flags()]).toEqual([[], []])
    expect(stage.robustnessSince('db', start)).toEqual(['healthy'])
    expect(stage.isIntact('db')).toBe(true)
    expect(await stage.told(leaving)).toEqual(['EvictionAutomatic'])
    expect(stage.guarded()).toEqual(['node-1', 'node-2', 'node-3'])
    expect([stage.oracle.rebuilds(), stage.oracle.violations]).toEqual([1, []])
    await expect(stage.trace.text()).toMatchFileSnapshot('./longhorn-block-for-eviction.golden.txt')
  })

  // The design counts two events EvictionAutomatic and one EvictionCanceled. Its second pair belongs to the volume with three
  // replicas and comes only where its other copies are not seen as protected for a moment. Here all nodes are decided about
  // at once and such a moment does not show, so the replica that stays is never told to go, and never told to stay.
  it('block-for-eviction-if-contains-last-replica: the only replica moves, one of three stays, and nobody speaks of it (9)', async () => {
    stage = await openLonghornStage(
      {
        volumes: [
          { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], filled: 0.25 },
          { name: 'trio', numberOfReplicas: 3, placedOn: ['node-1', 'node-2', 'node-3'], filled: 0.25 },
        ],
        timings: slowly,
      },
      { nodeCount: 4, policy: 'block-for-eviction-if-contains-last-replica' },
    )
    stage.operate({ isGuard: true })
    await stage.use('solo', 'node-4')
    await stage.use('trio', 'node-2')
    for (const volume of ['solo', 'trio']) stage.controls.writeData(volume, { blocks: 8 })
    await stage.seconds(10)
    const [moved, stayed] = ['solo', 'trio'].map((volume) => stage.replicaOn(volume, 'node-1'))
    const names = stage.replicasOf('trio').map(({ metadata }) => metadata.name)

    stage.trace.chapter('node-1 is drained')
    const start = stage.clock.now()
    const drain = stage.drain('node-1')
    await stage.seconds(3)
    const moving: unknown[] = []
    while (stage.placesOf('solo').includes('node-1')) {
      moving.push([drain.isOver(), stage.autoEvicting(), stage.flags()])
      await stage.seconds(1)
    }
    expect(moving.length).toBeGreaterThan(5)
    for (const seen of moving) expect(seen).toEqual([false, ['node-1'], ['solo on node-1']])
    await stage.until('the drain is over', drain.isOver, 30)
    await drain.ended
    await stage.seconds(10)
    expect(stage.robustnessSince('solo', start)).toEqual(['healthy'])
    expect(stage.robustnessSince('trio', start)).toEqual(['healthy', 'degraded'])

    stage.trace.chapter('node-1 is uncordoned')
    await stage.cordon('node-1', false)
    await stage.until('trio is healthy', () => stage.robustnessOf('trio') === 'healthy', 120)
    await stage.seconds(10)
    expect(stage.placesOf('solo')).not.toContain('node-1')
    expect(stage.replicasOf('trio').map(({ metadata }) => metadata.name)).toEqual(names)
    expect([stage.autoEvicting(), stage.flags()]).toEqual([[], []])
    expect(stage.isIntact('solo', 'trio')).toBe(true)
    expect([await stage.told(moved), await stage.told(stayed)]).toEqual([['EvictionAutomatic'], []])
    expect([stage.oracle.rebuilds(), stage.oracle.violations]).toEqual([2, []])
    await expect(stage.trace.text()).toMatchFileSnapshot('./longhorn-last-replica.golden.txt')
  })

  it('unschedulable: the drain never ends, and uncordoned the volume is as healthy as before (28)', async () => {
    stage = await openLonghornStage({
      volumes: [{ name: 'trio', numberOfReplicas: 3, placedOn: ['node-1', 'node-2', 'node-3'], filled: 0.25 }],
      timings: slowly,
    })
    stage.operate({ isGuard: true })
    await stage.use('trio', 'node-2')
    stage.controls.writeData('trio', { blocks: 8 })
    await stage.seconds(10)
    const names = stage.replicasOf('trio').map(({ metadata }) => metadata.name)
    const leaving = stage.replicaOn('trio', 'node-1')

    stage.trace.chapter('node-1 is drained')
    const drain = stage.drain('node-1')
    await stage.seconds(3)
    for (let minute = 0; minute < 15; minute += 1) {
      await stage.seconds(60)
      expect([drain.isOver(), stage.autoEvicting(), stage.flags()]).toEqual([false, ['node-1'], ['trio on node-1']])
    }

    stage.trace.chapter('The drain is given up and node-1 is uncordoned')
    drain.giveUp()
    await stage.cordon('node-1', false)
    await stage.seconds(30)
    expect(stage.robustnessOf('trio')).toBe('healthy')
    expect([stage.autoEvicting(), stage.flags()]).toEqual([[], []])
    expect(stage.replicasOf('trio').map(({ metadata }) => metadata.name)).toEqual(names)
    expect(stage.isIntact('trio')).toBe(true)
    expect(await stage.told(leaving)).toEqual(['EvictionAutomatic', 'EvictionCanceled'])
    expect([stage.oracle.rebuilds(), stage.oracle.violations]).toEqual([0, []])
    await expect(stage.trace.text()).toMatchFileSnapshot('./longhorn-unschedulable.golden.txt')
  })
})

describe('the oracle', () => {
  it('sees a budget that goes with the only copy under it, and the copy that is then lost', async () => {
    stage = await openLonghornStage(
      { volumes: [{ name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], sizeBytes: 64 * mib }] },
      { policy: 'block-if-contains-last-replica' },
    )
    const operator = stage.operate()
    await stage.use('solo', 'node-2')
    operator.kill()
    const [budget] = [...stage.views.of(podDisruptionBudgets).values()].filter(
      ({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node'] === 'node-1',
    )
    const namespace = longhornNamespace
    await stage.api.delete(podDisruptionBudgets, { namespace, name: budget?.metadata.name ?? '' })
    await stage.drained('node-1')
    await stage.seconds(5)
    expect(stage.oracle.violations).toEqual([
      'the budget of node-1 went, and no other covers a copy of solo',
      'solo was left without a healthy copy when the one on node-1 failed',
    ])
  })

  it('sees flags that contradict each other, and bytes that are not those that were written', async () => {
    stage = await openLonghornStage({
      volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }],
    })
    stage.operate()
    await stage.use('db', 'node-2')
    await stage.seconds(10)
    stage.controls.corruptBlock(stage.replicaOn('db', 'node-2'), 3)
    await stage.drained('node-1')
    expect(stage.oracle.violations).toEqual(['db has other bytes than were written, in 2 copies'])
    stage.controls.setRate(0)
    await stage.annotate({ [manageAnnotation]: null })
    const key = { namespace: longhornNamespace, name: stage.replicaOn('db', 'node-2') }
    await stage.api.patch(longhornReplicas, key, { type: 'merge', body: { spec: { evictionRequested: true } } })
    await stage.seconds(10)
    expect(stage.oracle.violations).toEqual([
      'db has other bytes than were written, in 2 copies',
      'node-2 says autoEvicting false with 1 replicas that a policy moves',
      'node-2 takes pods, and 1 replicas of it are still told to go',
    ])
  })
})
