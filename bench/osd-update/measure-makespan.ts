import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { emulateRook } from '@cofferdam/product/capabilities/osd-update/domain/emulate-rook.ts'
import { createRollingWindow } from '@cofferdam/product/capabilities/osd-update/domain/next-starts.ts'
import type { RoundPlan } from '@cofferdam/product/capabilities/osd-update/domain/plan-rounds.ts'
import type { CephMap } from '@cofferdam/product/safety/ceph-map.ts'
import { buildSlackHypergraph } from '@cofferdam/product/safety/slack-hypergraph.ts'
import type { Row } from '../report/rows.ts'
import { idsOf, largeHost } from './example-cases.ts'

/** Restart: lognormal with median 60 s and sigma 0.6. Then 30 s until its PGs have peered. */
function downtime(random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
  return 60 * Math.exp(0.6 * normal) + 30
}

function makespanWithBarrier(rounds: readonly (readonly number[])[], random: Random): number {
  return rounds.reduce((sum, osds) => sum + Math.max(...osds.map(() => downtime(random))), 0)
}

export function measureMakespan(map: CephMap, plan: RoundPlan): Row[] {
  const hours = (seconds: number) => (seconds / 3600).toFixed(2)
  const barrier = makespanWithBarrier(plan.rounds, seededRandom(2))
  const rook = makespanWithBarrier(emulateRook({ map, targets: idsOf(map) }).batches, seededRandom(2))
  const hypergraph = buildSlackHypergraph({ map, targets: idsOf(map) })
  const window = createRollingWindow({ hypergraph, plan, maxParallel: Math.ceil(map.osds.length * 0.15) })
  const random = seededRandom(2)
  const running = new Map<number, number>()
  let now = 0
  let done = 0
  const perEvent: number[] = []
  for (let started = window.start(); started.length > 0 || running.size > 0; ) {
    for (const id of started) running.set(id, now + downtime(random))
    let next = -1
    let at = Number.POSITIVE_INFINITY
    for (const [id, end] of running) if (end < at) [next, at] = [id, end]
    now = at
    running.delete(next)
    done += 1
    const before = process.cpuUsage()
    window.returned(next)
    started = window.start()
    const { user, system } = process.cpuUsage(before)
    perEvent.push((user + system) / 1000)
  }
  const p99 = perEvent.sort((a, b) => a - b)[Math.floor(perEvent.length * 0.99)] as number
  return [
    {
      measured: `${largeHost.name}: virtual time of the whole update, rolling (with barrier ${hours(barrier)} h, Rook ${hours(rook)} h)`,
      result: `${hours(now)} h`,
      goal: '1.5 h',
      reached: now <= 1.5 * 3600 && done === map.osds.length,
    },
    {
      measured: `${largeHost.name}: next starts after one return, p99 of ${perEvent.length}: CPU`,
      result: `${p99.toFixed(2)} ms`,
      goal: '5 ms',
      reached: p99 <= 5,
    },
  ]
}
