import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runsOf } from '../../../../../../test/property-runs.ts'
import { doAnyConflict, isLimit } from '../../../ledger/rules/claim.ts'
import { planWaves } from './plan-waves.ts'
import { randomNeeds } from './waves/testing/random-needs.ts'
import type { WaveNeeds } from './waves/wave-needs.ts'

/** Why these nodes cannot be away together, by the rules alone: nothing of it is shared with what makes the plan. */
function violationsOf(wave: readonly WaveNeeds[]): readonly string[] {
  const found: string[] = []
  for (const [at, mine] of wave.entries()) {
    for (const theirs of wave.slice(at + 1)) {
      if (doAnyConflict(mine.claims, theirs.claims)) found.push(`${mine.node} and ${theirs.node} need the same key`)
      const isHeldFrom = ({ claims }: WaveNeeds, { leaves }: WaveNeeds) =>
        claims.some(({ key }) => leaves.some((leaving) => leaving.key === key))
      if (isHeldFrom(mine, theirs) || isHeldFrom(theirs, mine))
        found.push(`${mine.node} and ${theirs.node}: a held budget`)
    }
  }
  for (const { key, most = 1 } of wave.flatMap(({ claims }) => claims).filter(isLimit)) {
    const taken = wave.filter(({ claims }) => claims.some((claim) => claim.key === key)).length
    if (taken > Math.max(1, most)) found.push(`${taken} of ${most} places of ${key}`)
  }
  for (const { key, room } of wave.flatMap(({ leaves }) => leaves)) {
    const leaving = wave.flatMap(({ leaves }) => leaves.filter((each) => each.key === key))
    const pods = leaving.reduce((sum, each) => sum + each.pods, 0)
    if (leaving.length > 1 && pods > room) found.push(`${pods} pods of ${key}, which lets ${room} go`)
  }
  return found
}

it('every node is in one wave, no wave breaks a rule, and no more than 1.15 times the lower bound are needed', () => {
  fc.assert(
    fc.property(fc.nat(), fc.constantFrom(8, 30, 90), (seed, mostNodes) => {
      const needs = randomNeeds(seededRandom(seed), mostNodes)
      const { waves, lowerBound } = planWaves(needs)
      expect(waves.flat().toSorted()).toEqual(needs.map(({ node }) => node).toSorted())
      const byName = new Map(needs.map((need) => [need.node, need]))
      for (const wave of waves) {
        expect(violationsOf(wave.map((node) => byName.get(node) as WaveNeeds))).toEqual([])
      }
      expect(waves.length).toBeGreaterThanOrEqual(lowerBound)
      expect(waves.length / lowerBound).toBeLessThanOrEqual(1.15)
    }),
    { numRuns: runsOf(1_000) },
  )
})

it('the lower bound is one: of few nodes, everything that is shorter was tried', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const needs = randomNeeds(seededRandom(seed), 6)
      const { lowerBound } = planWaves(needs)
      expect(fewestWaves(needs)).toBeGreaterThanOrEqual(lowerBound)
    }),
    { numRuns: runsOf(300) },
  )
})

/** By trying every arrangement. */
function fewestWaves(needs: readonly WaveNeeds[]): number {
  let fewest = needs.length
  const waves: WaveNeeds[][] = []
  const place = (at: number): void => {
    const need = needs[at]
    if (waves.length >= fewest) return
    if (need === undefined) {
      fewest = waves.length
      return
    }
    for (const wave of [...waves, undefined]) {
      if (wave === undefined) {
        waves.push([need])
        place(at + 1)
        waves.pop()
      } else if (violationsOf([...wave, need]).length === 0) {
        wave.push(need)
        place(at + 1)
        wave.pop()
      }
    }
  }
  place(0)
  return fewest
}
