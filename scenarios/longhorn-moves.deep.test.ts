import { longhornReplicas, longhornVolumes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { afterEach, describe, expect, it } from 'vitest'
import type { LonghornFixture } from './testing/longhorn-fixture.ts'
import { expectNothingBroken, isHeldFor, mib, openAttended, pair, trio } from './testing/longhorn-rows.ts'

let fixture: LonghornFixture
afterEach(() => fixture.close())

async function open(...asked: Parameters<typeof openAttended>): Promise<void> {
  fixture = await openAttended(...asked)
}

describe('moving', () => {
  it('a volume that nobody uses is attached by Longhorn for its move, also on the node that leaves, and rests again before that goes (32)', async () => {
    await open({ volumes: [pair] })
    await fixture.use('db', 'node-1')
    await fixture.disuse('db')
    expect(fixture.volume('db').status?.ownerID).toBe('node-1')
    const places = new Set<string>()
    const end = fixture.views
      .of(longhornVolumes)
      .subscribe(({ after }) => places.add(after?.status?.currentNodeID ?? ''))
    places.clear()
    await fixture.drained('node-1', 120)
    expect(fixture.volume('db').status?.state).toBe('detached')
    end()
    expect([places.size, fixture.placesOf('db')]).toEqual([2, ['node-2', 'node-3']])
    expectNothingBroken(fixture, 'db')
  })

  it('emptied ten times in turn, a volume has one copy more while it moves, never one less, and the same bytes (27)', async () => {
    await open({ volumes: [pair] })
    await fixture.use('db', 'node-2')
    const counts = new Set<number>()
    const end = fixture.views.of(longhornReplicas).subscribe(() => counts.add(fixture.replicasOf('db').length))
    counts.clear()
    const start = fixture.clock.now()
    for (let turn = 0; turn < 10; turn += 1) {
      const [from, to] = turn % 2 === 0 ? ['node-1', 'node-3'] : ['node-3', 'node-1']
      fixture.controls.writeData('db')
      await fixture.cordon(from)
      await fixture.until('it has moved', () => fixture.placesOf('db').join() === ['node-2', to].sort().join(), 60)
      await fixture.cordon(from, false)
      await fixture.seconds(3)
    }
    end()
    expect([...counts].sort()).toEqual([2, 3])
    expect(fixture.robustnessSince('db', start)).toEqual(['healthy'])
    expect(fixture.oracle.rebuilds()).toBe(10)
    expectNothingBroken(fixture, 'db')
  })

  it.each([1, 2])(
    'an upgrade that takes %i nodes at a time ends, and volumes are attached as before (47)',
    async (atOnce) => {
      const idle = { ...pair, name: 'idle', placedOn: ['node-3', 'node-4'] }
      await open({ volumes: [trio, pair, idle] }, { nodeCount: 4 })
      await fixture.use('trio')
      await fixture.use('db')
      const waiting = ['node-1', 'node-2', 'node-3', 'node-4']
      let running: { readonly node: string; readonly drain: ReturnType<LonghornFixture['drain']> }[] = []
      const done: string[] = []
      await fixture.until(
        'all nodes are upgraded',
        async () => {
          for (const { node, drain } of running.filter((one) => one.drain.isOver())) {
            await drain.ended
            await fixture.cordon(node, false)
            done.push(node)
          }
          running = running.filter((one) => !one.drain.isOver())
          for (const node of waiting.splice(0, atOnce - running.length))
            running.push({ node, drain: fixture.drain(node) })
          return done.length === 4
        },
        1_800,
      )
      await fixture.until(
        'all is attached',
        () => ['trio', 'db'].every((one) => fixture.robustnessOf(one) === 'healthy'),
        300,
      )
      await fixture.seconds(60)
      expect(['trio', 'db', 'idle'].map((one) => fixture.volume(one).status?.state)).toEqual([
        'attached',
        'attached',
        'detached',
      ])
      expect(fixture.flags()).toEqual([])
      expectNothingBroken(fixture, 'trio', 'db', 'idle')
    },
  )

  it('nodes drained faster than data is rebuilt: the one with the last whole copy waits until another is whole (48)', async () => {
    const large = { ...trio, sizeBytes: 50 * 1024 * mib, filled: 1, replicaSoftAntiAffinity: 'disabled' as const }
    await open(
      { volumes: [large], timings: { rebuildBytesPerSecond: 200 * mib } },
      { policy: 'block-if-contains-last-replica', nodeCount: 4 },
    )
    await fixture.use('trio', 'node-4')
    for (const node of ['node-1', 'node-2']) {
      await fixture.drained(node, 60)
      fixture.controls.writeData('trio')
      await fixture.cordon(node, false)
    }
    const drain = await isHeldFor(fixture, 'node-3', 60)
    expect((await fixture.told('node-3')).at(-1)).toBe('LastReplica')
    await fixture.until('the drain is over', drain.isOver, 900)
    await fixture.cordon('node-3', false)
    await fixture.until('trio is healthy', () => fixture.robustnessOf('trio') === 'healthy', 1_800)
    expectNothingBroken(fixture, 'trio')
  })
})
