import { eachStructure, type StructureBounds } from './every-structure.ts'
import { forceOf } from './fewest-by-force.ts'
import { planOf } from './plan-structure.ts'

export interface Comparison {
  readonly structures: number
  readonly equal: number
  /** Plans that took more rounds than there need be. */
  readonly longer: number
  /** Plans that leave somebody out, take too much away, or have fewer rounds than there can be. */
  readonly wrong: number
  /** Lower bounds that no plan could keep. */
  readonly boundTooHigh: number
  /** Structures whose lower bound is the fewest there can be, so that the plan is known to be the best without trying. */
  readonly boundReached: number
  readonly examples: readonly string[]
}

const mostExamples = 5

/** The planner against trying everything, on every `stride`th structure after the first `skipped`. */
export function compareStructures(bounds: StructureBounds, { stride = 1, skipped = 0 } = {}): Comparison {
  const force = forceOf(bounds.units)
  const plan = planOf(bounds.units)
  const examples: string[] = []
  const counts = { structures: 0, equal: 0, longer: 0, wrong: 0, boundTooHigh: 0, boundReached: 0 }
  let turn = 0
  eachStructure(bounds, (structure) => {
    turn += 1
    if ((turn - 1) % stride !== skipped) return
    const fewest = force(structure)
    const { rounds, lowerBound, isSound } = plan(structure)
    counts.structures += 1
    if (!isSound || rounds < fewest) counts.wrong += 1
    else if (rounds > fewest) counts.longer += 1
    else counts.equal += 1
    if (lowerBound > fewest) counts.boundTooHigh += 1
    if (lowerBound === fewest) counts.boundReached += 1
    if ((!isSound || rounds !== fewest || lowerBound > fewest) && examples.length < mostExamples) {
      examples.push(`${JSON.stringify(structure)}: ${rounds} rounds, at least ${lowerBound}, and ${fewest} by force`)
    }
  })
  return { ...counts, examples }
}

export function sumOf(parts: readonly Comparison[]): Comparison {
  const total = (count: (part: Comparison) => number) => parts.reduce((sum, part) => sum + count(part), 0)
  return {
    structures: total(({ structures }) => structures),
    equal: total(({ equal }) => equal),
    longer: total(({ longer }) => longer),
    wrong: total(({ wrong }) => wrong),
    boundTooHigh: total(({ boundTooHigh }) => boundTooHigh),
    boundReached: total(({ boundReached }) => boundReached),
    examples: parts.flatMap(({ examples }) => examples).slice(0, mostExamples),
  }
}
