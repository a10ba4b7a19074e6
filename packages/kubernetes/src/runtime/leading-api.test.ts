import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import { createFreezable } from '../../../../scenarios/testing/freezable.ts'
import { nodes } from '../api/resources.ts'
import { microTimestamp } from './clock.ts'
import { LeaderLease } from './leader-lease.ts'
import { leadingApi } from './leading-api.ts'
import { createLeaseStore } from './lease-store.ts'
import { seededRandom } from './random.ts'

/** Writes two nodes in a row, and stands still for so long between them. */
async function writeTwo(standstillMs: number): Promise<unknown> {
  const clock = new VirtualClock()
  const server = new ApiServer({ clock, random: seededRandom(7) })
  server.start()
  const admin = server.as(clusterAdmin)
  const process = createFreezable(clock)
  const lease = new LeaderLease({
    store: createLeaseStore(process.api(admin), { namespace: 'default', name: 'lead' }),
    identity: 'one',
    clock: process.clock,
    random: seededRandom(3),
    timestamp: () => microTimestamp(clock),
  })
  const api = leadingApi(process.api(admin), () => lease.mayAct())
  const stopping = new AbortController()
  let outcome: unknown = 'written'
  const ended = lease.run(async () => {
    process.freezeAfter(0)
    await api.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'first' } })
    try {
      await api.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'second' } })
    } catch (error) {
      outcome = (error as { code?: unknown }).code
    }
  }, stopping.signal)
  await clock.advance(standstillMs)
  process.thaw()
  await clock.advance(1_000)
  stopping.abort()
  await clock.advance(10_000)
  await ended
  const { items } = await admin.list(nodes)
  server.stop()
  return { outcome, nodes: items.map(({ metadata }) => metadata.name) }
}

it('goes on after a short standstill: nobody else can have taken the lead', async () => {
  expect(await writeTwo(5_000)).toEqual({ outcome: 'written', nodes: ['first', 'second'] })
})

it('writes nothing after a long standstill: what it decided then may undo what the new leader has begun', async () => {
  expect(await writeTwo(60_000)).toEqual({ outcome: 'LEAD_LOST', nodes: ['first'] })
})
