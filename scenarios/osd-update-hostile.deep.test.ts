import { describe, expect, it } from 'vitest'
import { type Lie, tellHostileUpdate } from './testing/osd-update-hostile.ts'

const scenarios: readonly [Lie, readonly number[]][] = [
  ['yes', [1, 2]],
  ['tentacle', [3, 4]],
  ['honest', [5]],
  ['no', [6]],
  ['silent', [7]],
  ['of-others', [8]],
]
/** `OSD_UPDATE_SEEDS=100` tells a hundred more of each. */
const moreSeeds = Number(process.env['OSD_UPDATE_SEEDS'] ?? 0)
const minutes = 5
const refusing: readonly Lie[] = ['no', 'silent', 'of-others']

describe('OSDs, nodes, pools and the operator itself are at the mercy of chance, and ok-to-stop', () => {
  it.each(scenarios)(
    'is %s: nothing that was started takes a placement group below its floor, exceeds the limit or lacks the storage',
    async (lie, seeds) => {
      const all = [...seeds, ...Array.from({ length: moreSeeds }, (_, more) => 100 + more)]
      let taken = 0
      for (const seed of all) {
        const scenario = await tellHostileUpdate({ seed, lie, minutes })
        expect(scenario.found.join('\n')).toBe('')
        taken += scenario.taken
      }
      expect(taken > 0).toBe(!refusing.includes(lie))
    },
    (2 + moreSeeds) * 120_000,
  )
})
