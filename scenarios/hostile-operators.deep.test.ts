import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import { doSomethingHostile, goHome, type HostileStage } from './testing/hostile-people.ts'
import { controlNodes, openHundredNodes, workers } from './testing/hundred-nodes.ts'
import { watchRolling } from './testing/rolling-oracle.ts'
import { rollByKubectl, rollByKured, rollByRequests } from './testing/rolling-tools.ts'

const hostileMinutes = 30
/** `COFFERDAM_SEEDS=5,6,7` rolls with others than these. */
const seeds = (process.env['COFFERDAM_SEEDS'] ?? '1').split(',').map(Number)

describe('three tools reboot a hundred nodes at once while five people do harm', () => {
  it.each(seeds)(
    'no budget is overdrawn, no planned node fenced, the control plane keeps its majority, and every request ends or says why (seed %i)',
    async (seed) => {
      const fixture = await openHundredNodes(seed)
      const oracle = watchRolling(fixture)
      const random = seededRandom(seed * 7_919)
      try {
        const stage: HostileStage = { fixture, oracle, random, operator: fixture.newestOperator }
        fixture.operate({ isReplaced: true })
        await fixture.seconds(30)
        // Some nodes are wanted by two of them, and some by all three.
        const [even, odd] = [0, 1].map((rest) => workers.filter((_, index) => index % 2 === rest))
        const tools = [
          rollByRequests(fixture, [...(even ?? []), ...controlNodes.slice(0, 2)], 60),
          await rollByKured(fixture, [...(odd ?? []), ...workers.slice(0, 12), ...controlNodes.slice(1)], 60),
          rollByKubectl(fixture, workers.slice(0, 24), 45),
        ]
        const pass = async (seconds: number) => {
          for (let second = 0; second < seconds; second += 2) {
            await fixture.seconds(2)
            oracle.look()
          }
        }
        const end = fixture.clock.now() + hostileMinutes * 60_000
        while (fixture.clock.now() < end) {
          await doSomethingHostile(stage)
          await pass(5 + Math.floor(random.next() * 40))
        }
        await goHome(stage)
        const patienceEnd = fixture.clock.now() + 3 * 3_600_000
        const isDone = () => tools.every((tool) => tool.left().length === 0)
        while (!isDone() && fixture.clock.now() < patienceEnd) await pass(30)
        for (const tool of tools) expect([tool.name, tool.left()]).toEqual([tool.name, []])
        for (const tool of tools) tool.stop()
        await pass(600)
        const found = [...oracle.violations, ...fixture.oracle.violations, ...oracle.leftovers()]
        expect(found.length === 0 ? [] : [...found, fixture.trace.text()]).toEqual([])
        expect(oracle.mostDown()).toBeGreaterThan(3)
      } finally {
        await fixture.close()
      }
    },
  )
})
