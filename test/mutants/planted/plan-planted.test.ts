import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseSource } from '../syntax.ts'
import { weaveMutants } from '../weave-mutants.ts'
import { planPlanted, plantedIn } from './plan-planted.ts'
import { reportPlanted } from './report-planted.ts'

describe('faults that are planted by hand', () => {
  const planted = planPlanted()

  it('are each in one place of a source as it is now, or nothing would be tried', () => {
    for (const file of new Set(planted.map((mutant) => mutant.file))) {
      const own = planted.filter((mutant) => mutant.file === file)
      expect(() => parseSource(weaveMutants(readFileSync(file, 'utf8'), own)), file).not.toThrow()
    }
  })

  it('are many in each part, and each does a harm of its own', () => {
    for (const [part, faults] of Object.entries(plantedIn)) expect(faults.length, part).toBeGreaterThan(20)
    expect(new Set(planted.map(({ harm }) => harm)).size).toBe(planted.length)
  })

  it('cannot be planted where the source has changed, and the message says which one that is', () => {
    expect(() => planPlanted(() => 'nothing')).toThrow(/has to contain this once/)
  })

  it('count as caught when a test failed of them, and are shown with their harm when none did', () => {
    const two = planted.slice(0, 1).flatMap((mutant) => [mutant, { ...mutant, id: 2 }])
    const outcomes = { killed: new Map([[1, 'a test']]), passed: new Set([1]), skipped: new Set<string>() }
    const { text, missed } = reportPlanted(two, outcomes)
    expect(missed).toBe(1)
    expect(text).toContain(`unreached: ${two[1]?.file}`)
    expect(text).toContain(two[1]?.harm)
    expect(text).toContain('1 of 2')
  })
})
