import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PlannedMutant } from '../mutant.ts'
import { decisions } from './decisions.ts'
import type { PlantedFault } from './planted-fault.ts'
import { shells } from './shells.ts'
import { steps } from './steps.ts'

const root = 'packages/cofferdam/src'

/** What they are planted in: what is decided, what becomes of it, and what is around both. */
export const plantedIn: Readonly<Record<string, readonly PlantedFault[]>> = { decisions, steps, shells }

export interface PlantedMutant extends PlannedMutant {
  readonly part: string
  readonly harm: string
}

/** Every planted fault with its place. Throws where a source has changed so that a fault is not to be planted any more. */
export function planPlanted(read = (file: string) => readFileSync(file, 'utf8')): PlantedMutant[] {
  const faults = Object.entries(plantedIn).flatMap(([part, each]) => each.map((fault) => ({ part, ...fault })))
  return faults.map(({ part, file: name, was, becomes, harm }, at) => {
    const file = join(root, name)
    const source = read(file)
    const start = source.indexOf(was)
    if (start < 0 || source.indexOf(was, start + 1) >= 0)
      throw new Error(`${file} has to contain this once, or nobody knows where the fault is planted: ${was}`)
    const line = source.slice(0, start).split('\n').length
    return { id: at + 1, part, file, start, end: start + was.length, line, was, becomes, harm, isStatic: false }
  })
}
