import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PlannedMutant } from './mutant.ts'
import { folder } from './outcomes.ts'

/** What a run tries, and with which tests, in their order. */
export interface MutantPlan {
  readonly mutants: readonly PlannedMutant[]
  readonly tests: readonly string[]
  /** Each mutant with every test that passes it; otherwise with those of its own room. */
  readonly wide: boolean
}

const file = join(folder, 'plan.json')

export function writePlan(plan: MutantPlan): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, JSON.stringify(plan))
}

export function readPlan(): MutantPlan {
  return JSON.parse(readFileSync(file, 'utf8')) as MutantPlan
}
