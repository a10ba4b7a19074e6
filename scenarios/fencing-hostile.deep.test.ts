import { describe, expect, it } from 'vitest'
import { tellHostileScenario } from './testing/fencing-hostile.ts'
import type { RemediatorStyle } from './testing/fencing-remediators.ts'

const scenarios: readonly [RemediatorStyle, readonly number[]][] = [
  ['budget', [1, 2]],
  ['openshift', [3, 4]],
  ['cluster-api', [2, 9]],
  ['medik8s', [7, 8]],
]
const minutes = 8

describe('nodes die and return, kubelets stop, OSDs fail, people edit, and the operator is killed: the oracle holds', () => {
  it.each(scenarios)('under %s', async (remediator, seeds) => {
    let taken = 0
    for (const seed of seeds) {
      const scenario = await tellHostileScenario({ seed, remediator, minutes })
      expect(scenario.found.join('\n')).toBe('')
      taken += scenario.taken
    }
    expect(taken).toBeGreaterThan(0)
  })
})
