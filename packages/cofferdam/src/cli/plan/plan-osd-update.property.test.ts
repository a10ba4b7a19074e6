import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runsOf } from '../../../../../test/property-runs.ts'
import { emulateRook, rookMax } from '../../capabilities/osd-update/domain/emulate-rook.ts'
import { osdsInParallel } from '../../capabilities/osd-update/domain/parallel-limit.ts'
import { planRounds } from '../../capabilities/osd-update/domain/plan-rounds.ts'
import { randomCluster } from '../../capabilities/osd-update/domain/testing/random-cluster.ts'
import { updateOrders } from '../../capabilities/osd-update/domain/update-settings.ts'
import { runCommand } from '../testing/run-command.ts'
import { cephAnswersOf, withCephFiles } from '../testing/write-ceph-files.ts'
import { createPlanCommand } from './plan.ts'
import { parseMaxParallel } from './plan-flags.ts'

const command = createPlanCommand({
  clock: realClock,
  connect: () => Promise.reject(new Error('a cluster was asked')),
  openCeph: () => {
    throw new Error('Ceph was asked')
  },
  cpuMs: () => 0,
})

const flags = fc.record({
  seed: fc.nat(),
  limit: fc.oneof(
    fc.integer({ min: 1, max: 20 }).map(String),
    fc.integer({ min: 1, max: 100 }).map((percent) => `${percent}%`),
  ),
  reserve: fc.constantFrom(0, 0, 1),
  canary: fc.boolean(),
  order: fc.constantFrom(...updateOrders),
})

it('a plan from files is the plan of the cluster that they were written from', async () => {
  await fc.assert(
    fc.asyncProperty(flags, async ({ seed, limit, reserve, canary, order }) => {
      const random = seededRandom(seed)
      const map = randomCluster(() => random.next())
      const argv = [
        '--max-parallel',
        limit,
        '--reserve',
        String(reserve),
        '--order',
        order,
        ...(canary ? ['--canary'] : []),
      ]
      const { code, out, err } = await withCephFiles(cephAnswersOf(map), (from) =>
        runCommand(command, 'plan', 'osd-update', '--from', from, '--cpu-seconds', '0', '-o', 'json', ...argv),
      )
      const targets = map.osds.map(({ id }) => id)
      const maxParallel = osdsInParallel(parseMaxParallel(limit), targets.length)
      const wanted = planRounds({ map, targets, maxParallel, reserve, order, canary, mayGoOn: () => false })
      const { rounds, lowerBound, blocked } = wanted
      const rook = emulateRook({ map, targets, reserve, max: Math.min(rookMax, maxParallel) })
      expect(err).toBe('')
      expect(JSON.parse(out)).toStrictEqual({
        rounds,
        lowerBound,
        rookRounds: rook.batches.length,
        cpuSeconds: 0,
        blocked,
      })
      expect(code).toBe(blocked.length > 0 ? 3 : 0)
    }),
    { numRuns: runsOf(60) },
  )
})
