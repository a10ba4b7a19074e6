import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { emulateRook } from '@cofferdam/product/capabilities/osd-update/domain/emulate-rook.ts'
import { planRounds } from '@cofferdam/product/capabilities/osd-update/domain/plan-rounds.ts'
import { recheckRound } from '@cofferdam/product/capabilities/osd-update/domain/recheck-round.ts'
import { randomCluster } from '@cofferdam/product/capabilities/osd-update/domain/testing/random-cluster.ts'
import { buildSafetyIndex } from '@cofferdam/product/safety/safety-index.ts'
import { cpuSecondsOf, type Row } from '../report/rows.ts'
import { idsOf, roundsByDomain } from './example-cases.ts'

const randomClusters = 10_000

export async function measureRandomClusters(): Promise<Row> {
  const random = seededRandom(10)
  let longer = 0
  let unsafe = 0
  let saved = 0
  const seconds = await cpuSecondsOf(() => {
    for (let at = 0; at < randomClusters; at += 1) {
      const map = randomCluster(() => random.next())
      const targets = idsOf(map)
      const maxParallel = random.next() < 0.5 ? targets.length : 1 + Math.floor(random.next() * 8)
      const plan = planRounds({ map, targets, maxParallel })
      const rook = emulateRook({ map, targets, max: Math.min(maxParallel, 20) }).batches.length
      if (plan.rounds.length > Math.min(rook, roundsByDomain(map, maxParallel))) longer += 1
      saved += rook - plan.rounds.length
      const index = buildSafetyIndex(map)
      for (const osds of plan.rounds) {
        if (index.mayStop(osds).may !== 'yes' || !recheckRound({ map, osds }).isSafe) unsafe += 1
      }
    }
  })
  return {
    measured: `10,000 random clusters: plans longer than by domain or Rook, unsafe rounds (${saved} rounds fewer than Rook, ${seconds.toFixed(0)} CPU-s)`,
    result: `${longer}, ${unsafe}`,
    goal: '0, 0',
    reached: longer === 0 && unsafe === 0,
  }
}
