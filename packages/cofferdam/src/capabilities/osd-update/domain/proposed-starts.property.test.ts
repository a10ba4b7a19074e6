import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { assumeDown } from './assume-down.ts'
import { decideOsdUpdate } from './decide.ts'
import { recheckRound } from './recheck-round.ts'
import { exampleCluster } from './testing/example-cluster.ts'
import { updateSnapshot } from './testing/update-fixture.ts'

const seeds = fc.integer({ min: 0, max: 1_000_000 })
const named = fc.uniqueArray(fc.integer({ min: 0, max: 20 }), { maxLength: 12 })
const settings = fc.record({
  reserve: fc.integer({ min: 0, max: 1 }),
  canary: fc.boolean(),
  maxInParallel: fc.record({ kind: fc.constant('count' as const), count: fc.integer({ min: 1, max: 16 }) }),
})

it('whatever Ceph names, only those start that it named and that need it, and every placement group keeps its floor', () => {
  let started = 0
  let refused = 0
  fc.assert(
    fc.property(seeds, named, settings, fc.subarray([0, 3, 5, 9, 14]), (seed, osds, wanted, unready) => {
      const random = seededRandom(seed)
      const pools = [
        { size: 3, minSize: 2, pgCount: 12 },
        { size: 4, minSize: 2, pgCount: 6 },
      ]
      const down = new Set(random.next() < 0.3 ? [Math.floor(random.next() * 16)] : [])
      const map = exampleCluster({ hosts: 8, osdsPerHost: 2, pools, down }, () => random.next())
      const ids = map.osds.map(({ id }) => id)
      const needing = ids.filter(() => random.next() < 0.7)
      const snapshot = updateSnapshot({
        ids,
        needing,
        osds: Object.fromEntries(unready.map((id) => [id, { isPodReady: false }])),
        settings: { ...wanted, strategy: 'ok-to-stop' },
        ceph: { map, peered: new Set(ids.filter((id) => !down.has(id))) },
      })
      const { start, reason } = decideOsdUpdate({
        ...snapshot,
        proposal: known({ by: 'ok-to-stop', osds, asked: osds.slice(0, 1) }),
      })
      started += start.length
      if (reason === 'CephDisagrees') refused += 1
      const away = new Set(unready.filter((id) => !start.includes(id)))
      const holdsData = new Set<number>(map.pgs.acting)
      for (const osd of start) {
        const isFree = down.has(osd) || !holdsData.has(osd) || unready.includes(osd)
        expect([osd, needing.includes(osd), isFree || osds.includes(osd)]).toEqual([osd, true, true])
      }
      expect(recheckRound({ map: assumeDown(map, away), osds: start })).toEqual({ isSafe: true })
      expect(start.length).toBeLessThanOrEqual(wanted.maxInParallel.count)
    }),
    { numRuns: 300 },
  )
  expect([started > 50, refused > 20]).toEqual([true, true])
})
