import { emulateRook } from '@cofferdam/product/capabilities/osd-update/domain/emulate-rook.ts'
import { planRounds, type RoundPlan } from '@cofferdam/product/capabilities/osd-update/domain/plan-rounds.ts'
import { withProvedBound } from '@cofferdam/product/capabilities/osd-update/domain/prove-bound.ts'
import { recheckRound } from '@cofferdam/product/capabilities/osd-update/domain/recheck-round.ts'
import type { CephMap } from '@cofferdam/product/safety/ceph-map.ts'
import { cpuSecondsOf, type Row } from '../report/rows.ts'
import { type ExampleCase, idsOf, largeHost, mapOf, roundsByDomain } from './example-cases.ts'

/** The median of five, for the first also pays for the compiler. */
export async function planned(
  map: CephMap,
  looks?: number,
): Promise<{ readonly plan: RoundPlan; readonly seconds: number }> {
  const seconds: number[] = []
  let plan: RoundPlan | undefined
  for (let run = 0; run < 5; run += 1) {
    let left = looks ?? 0
    const budget = looks === undefined ? {} : { mayGoOn: () => left-- > 0 }
    globalThis.gc?.()
    seconds.push(
      await cpuSecondsOf(() => {
        plan = planRounds({ map, targets: idsOf(map), maxParallel: map.osds.length, ...budget })
      }),
    )
  }
  return { plan: plan as RoundPlan, seconds: seconds.sort((a, b) => a - b)[2] as number }
}

export async function measureCase(one: ExampleCase): Promise<Row> {
  const map = mapOf(one)
  const { plan, seconds } = await planned(map)
  const megabytes = process.memoryUsage().rss / 2 ** 20
  let bound = plan.lowerBound
  const boundSeconds = await cpuSecondsOf(() => {
    bound = withProvedBound(plan, { map, targets: idsOf(map) }).lowerBound
  })
  const rook = emulateRook({ map, targets: idsOf(map) })
  const byDomain = roundsByDomain(map, map.osds.length)
  const isChecked = plan.rounds.every((osds) => osds.length > 0) && plan.rounds.flat().length === map.osds.length
  return {
    measured: `${one.name}: rounds (by domain ${byDomain}, Rook ${rook.batches.length} with ${rook.pgScans} PG scans, at least ${bound.rounds}, proved in ${boundSeconds.toFixed(2)} CPU-s)`,
    result: `${plan.rounds.length}, ${seconds.toFixed(2)} CPU-s, ${megabytes.toFixed(0)} MB`,
    goal: `${one.rounds}${one.isLarge === true ? ', 1.0 CPU-s, 400 MB' : ''}`,
    reached:
      isChecked &&
      bound.rounds <= plan.rounds.length &&
      plan.rounds.length <= Math.min(one.rounds, byDomain, rook.batches.length) &&
      (one.isLarge !== true || (seconds <= 1 && megabytes <= 400)),
  }
}

export async function measureLonger(map: CephMap): Promise<Row> {
  const { plan, seconds } = await planned(map, 150)
  return {
    measured: `${largeHost.name}: rounds with a longer search`,
    result: `${plan.rounds.length}, ${seconds.toFixed(2)} CPU-s`,
    goal: '36, 2.0 CPU-s',
    reached: plan.rounds.length <= 36 && seconds <= 2,
  }
}

export async function measureRecheck(map: CephMap, plan: RoundPlan): Promise<Row> {
  let refused = 0
  const seconds = await cpuSecondsOf(() => {
    for (const osds of plan.rounds) if (!recheckRound({ map, osds }).isSafe) refused += 1
  })
  return {
    measured: `${largeHost.name}: second check of one round, mean of ${plan.rounds.length} (${refused} refused): CPU`,
    result: `${((seconds * 1000) / plan.rounds.length).toFixed(0)} ms`,
    goal: '1,000 ms, none refused',
    reached: refused === 0 && seconds / plan.rounds.length < 1,
  }
}
