import { describe, expect, it } from 'vitest'
import { crashScenarios } from './all-scenarios.ts'
import type { CrashScenario } from './crash-scenario.ts'
import { faultsOfReference, faultsOfRun, pointsOf, pointText } from './judge-run.ts'

/** One scenario of each capability, and of each of them every so many points: all of them are `npm run crash-points`. */
const cut: readonly (readonly [string, number])[] = [
  ['drain-one', 29],
  ['skip-drain-reboot', 29],
  ['fence-dead-node', 29],
  ['update-canary', 37],
  ['lh-evict-all', 29],
]

describe('an operator that dies at any of its writes is followed by one that comes to the same end without harm', () => {
  it.each(cut)('in %s', async (name, every) => {
    const scenario = crashScenarios[name] as CrashScenario
    const reference = await scenario.run()
    expect(faultsOfReference(reference)).toEqual([])
    const faults: string[] = []
    for (const point of pointsOf(reference).filter((_, index) => index % every === 0)) {
      const found = faultsOfRun(reference, await scenario.run(point), point)
      faults.push(...found.map((fault) => `${name}@${pointText(point)}: ${fault}`))
    }
    expect(faults).toEqual([])
  })
})
