import { ClassFill, type Partition, type RoundProblem } from './class-limits.ts'

/** What is tried before the search is given up. */
const mostTries = 50_000
const mostUnitsForSearch = 12

/**
 * The fewest classes there can be, by trying everything that differs in more than the names of classes.
 *
 * Undefined when fewer than `fewerThan` cannot be had, or when that is too much to try.
 */
export function fewestClasses(
  problem: RoundProblem,
  fewerThan: number,
  atLeast: number,
): { readonly partition: Partition | undefined; readonly isProved: boolean } {
  const { graph } = problem
  const unitCount = graph.osds.length
  if (unitCount > mostUnitsForSearch) return { partition: undefined, isProved: false }
  const { unitStarts, unitEdges, edgeStarts, edgeMembers, slack } = graph
  const degreeOf = (unit: number) => (unitStarts[unit + 1] as number) - (unitStarts[unit] as number)
  const order = Array.from({ length: unitCount }, (_, unit) => unit).sort((a, b) => degreeOf(b) - degreeOf(a) || a - b)
  const classOf = new Int32Array(unitCount).fill(-1)
  const fill = new ClassFill(problem)
  let best: Partition | undefined
  let limit = fewerThan - 1
  let tries = 0
  place(0, 0)
  return { partition: best, isProved: tries <= mostTries }

  /** Whether the search is over. */
  function place(depth: number, used: number): boolean {
    if (used > limit) return false
    const unit = order[depth]
    if (unit === undefined) {
      best = { classOf: classOf.slice(), count: used }
      limit = used - 1
      return limit < atLeast
    }
    for (let into = 0; into <= used && into < limit; into += 1) {
      tries += 1
      if (tries > mostTries) return true
      if (!fill.mayTake(unit, into) || !fits(unit, into)) continue
      classOf[unit] = into
      fill.add(unit, into)
      const isOver = place(depth + 1, Math.max(used, into + 1))
      fill.remove(unit, into)
      classOf[unit] = -1
      if (isOver) return true
    }
    return false
  }

  function fits(unit: number, into: number): boolean {
    for (let entry = unitStarts[unit] as number; entry < (unitStarts[unit + 1] as number); entry += 1) {
      const edge = unitEdges[entry] as number
      let inside = 0
      for (let at = edgeStarts[edge] as number; at < (edgeStarts[edge + 1] as number); at += 1) {
        if (classOf[edgeMembers[at] as number] === into) inside += 1
      }
      if (inside >= (slack[edge] as number)) return false
    }
    return true
  }
}
