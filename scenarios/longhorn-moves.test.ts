import { longhornReplicas, longhornVolumes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { expectNothingBroken, isHeldFor, mib, openAttended, pair, trio } from './testing/longhorn-rows.ts'
import type { LonghornStage } from './testing/longhorn-stage.ts'

let stage: LonghornStage
afterEach(() => stage.close())

async function open(...asked: Parameters<typeof openAttended>): Promise<void> {
  stage = await openAttended(...asked)
}

describe('moving', () => {
  it('a volume that nobody uses is attached for its move to a node that stays, never to the one that leaves, and rests again after it (32)', async () => {
    await open({ volumes: [pair] })
    await stage.use('db', 'node-1')
    await stage.disuse('db')
    expect(stage.volume('db').status?.ownerID).toBe('node-1')
    const places = new Set<string>()
    const end = stage.views.of(longhornVolumes).subscribe(({ after }) => places.add(after?.status?.currentNodeID ?? ''))
    places.clear()
    await stage.drained('node-1', 120)
    await stage.until('db is detached', () => stage.volume('db').status?.state === 'detached', 60)
    end()
    expect([[...places].sort(), stage.placesOf('db')]).toEqual([
      ['', 'node-2'],
      ['node-2', 'node-3'],
    ])
    expectNothingBroken(stage, 'db')
  })

  it('emptied ten times in turn, a volume has one copy more while it moves, never one less, and the same bytes (27)', async () => {
    await open({ volumes: [pair] })
    await stage.use('db', 'node-2')
    const counts = new Set<number>()
    const end = stage.views.of(longhornReplicas).subscribe(() => counts.add(stage.replicasOf('db').length))
    counts.clear()
    const start = stage.clock.now()
    for (let turn = 0; turn < 10; turn += 1) {
      const [from, to] = turn % 2 === 0 ? ['node-1', 'node-3'] : ['node-3', 'node-1']
      stage.controls.writeData('db')
      await stage.cordon(from)
      await stage.until('it has moved', () => stage.placesOf('db').join() === ['node-2', to].sort().join(), 60)
      await stage.cordon(from, false)
      await stage.seconds(3)
    }
    end()
    expect([...counts].sort()).toEqual([2, 3])
    expect(stage.robustnessSince('db', start)).toEqual(['healthy'])
    expect(stage.oracle.rebuilds()).toBe(10)
    expectNothingBroken(stage, 'db')
  })

  it.each([1, 2])(
    'an upgrade that takes %i nodes at a time ends, and volumes are attached as before (47)',
    async (atOnce) => {
      const idle = { ...pair, name: 'idle', placedOn: ['node-3', 'node-4'] }
      await open({ volumes: [trio, pair, idle] }, { nodeCount: 4 })
      await stage.use('trio')
      await stage.use('db')
      const waiting = ['node-1', 'node-2', 'node-3', 'node-4']
      let running: { readonly node: string; readonly drain: ReturnType<LonghornStage['drain']> }[] = []
      const done: string[] = []
      await stage.until(
        'all nodes are upgraded',
        async () => {
          for (const { node, drain } of running.filter((one) => one.drain.isOver())) {
            await drain.ended
            await stage.cordon(node, false)
            done.push(node)
          }
          running = running.filter((one) => !one.drain.isOver())
          for (const node of waiting.splice(0, atOnce - running.length))
            running.push({ node, drain: stage.drain(node) })
          return done.length === 4
        },
        1_800,
      )
      await stage.until(
        'all is attached',
        () => ['trio', 'db'].every((one) => stage.robustnessOf(one) === 'healthy'),
        300,
      )
      await stage.seconds(60)
      expect(['trio', 'db', 'idle'].map((one) => stage.volume(one).status?.state)).toEqual([
        'attached',
        'attached',
        'detached',
      ])
      expect(stage.flags()).toEqual([])
      expectNothingBroken(stage, 'trio', 'db', 'idle')
    },
  )

  it('nodes drained faster than data is rebuilt: the one with the last whole copy waits until another is whole (48)', async () => {
    const large = { ...trio, sizeBytes: 50 * 1024 * mib, filled: 1, replicaSoftAntiAffinity: 'disabled' as const }
    await open(
      { volumes: [large], timings: { rebuildBytesPerSecond: 200 * mib } },
      { policy: 'block-if-contains-last-replica', nodeCount: 4 },
    )
    await stage.use('trio', 'node-4')
    for (const node of ['node-1', 'node-2']) {
      await stage.drained(node, 60)
      stage.controls.writeData('trio')
      await stage.cordon(node, false)
    }
    const drain = await isHeldFor(stage, 'node-3', 60)
    expect((await stage.told('node-3')).at(-1)).toBe('LastReplica')
    await stage.until('the drain is over', drain.isOver, 900)
    await stage.cordon('node-3', false)
    await stage.until('trio is healthy', () => stage.robustnessOf('trio') === 'healthy', 1_800)
    expectNothingBroken(stage, 'trio')
  })
})
