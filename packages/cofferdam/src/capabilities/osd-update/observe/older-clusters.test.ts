import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import { OlderClusters } from './older-clusters.ts'

it('a CephCluster is older for as long as nothing newer is seen: a server that catches up is given its time anew', async () => {
  const clock = new VirtualClock()
  const older = new OlderClusters(clock)
  const first = { uid: 'a', generation: 1 }
  const told = [older.olderForMs('x', first)]
  await clock.advance(60_000)
  told.push(
    older.olderForMs('x', first),
    older.olderForMs('y', first),
    older.olderForMs('x', { ...first, generation: 2 }),
  )
  older.forget('y')
  await clock.advance(30_000)
  told.push(older.olderForMs('y', first), older.olderForMs('x', { uid: 'b', generation: 2 }))
  expect(told).toEqual([0, 60_000, 0, 0, 0, 0])
})

it('it is older for as long as has passed, also when the clock was turned back, or the update would wait until it has caught up', async () => {
  const skew = { ms: 86_400_000 }
  const clock = new VirtualClock()
  const older = new OlderClusters({
    now: () => clock.now() + skew.ms,
    elapsed: () => clock.now(),
    after: (ms, call) => clock.after(ms, call),
  })
  older.olderForMs('x', {})
  skew.ms = 0
  await clock.advance(60_000)
  expect(older.olderForMs('x', {})).toBe(60_000)
})
