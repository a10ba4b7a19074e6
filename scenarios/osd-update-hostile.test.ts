import { describe, expect, it } from 'vitest'
import { lies, tellHostileUpdate } from './testing/osd-update-hostile.ts'

/** So many seeds for each way to lie; `OSD_UPDATE_SEEDS=200` for a long night. */
const seedsPerLie = Number(process.env['OSD_UPDATE_SEEDS'] ?? 2)
const minutes = 6

describe('OSDs, nodes, pools and the operator itself are at the mercy of chance, and ok-to-stop', () => {
  it.each(lies.map((lie, at) => [lie, at] as const))(
    'is %s: nothing that was started takes a placement group below its floor, exceeds the limit or lacks the storage',
    async (lie, at) => {
      let starts = 0
      for (let number = 0; number < seedsPerLie; number += 1) {
        const story = await tellHostileUpdate({ seed: 1 + at + lies.length * number, lie, minutes })
        expect(story.found.join('\n')).toBe('')
        starts += story.started
      }
      const refuses = lie === 'no' || lie === 'silent' || lie === 'of-others'
      expect(starts > 0).toBe(!refuses)
    },
    120_000 * seedsPerLie,
  )
})
