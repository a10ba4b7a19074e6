import { ClassFill, type Partition, type RoundProblem } from './class-limits.ts'
import { SaturationOrder } from './saturation-order.ts'

/** One byte for each unit and class: beyond this it is not worth its memory. */
const mostCells = 64 * 2 ** 20

/**
 * DSATUR with slack: always the unit that the fewest classes are open to, into the first of them. A class is closed to a unit
 * when one of its edges already has as many members in there as may be down.
 *
 * Undefined when it would need more classes than `most`.
 */
export function mostConstrainedFirst(problem: RoundProblem, most: number): Partition | undefined {
  const { graph } = problem
  const { edgeStarts, edgeMembers, slack, unitStarts, unitEdges } = graph
  const unitCount = graph.osds.length
  if (unitCount * most > mostCells) return undefined
  // Class by class: what one unit closes is then close together.
  const closed = new Uint8Array(unitCount * most)
  const classOf = new Int32Array(unitCount).fill(-1)
  const fill = new ClassFill(problem)
  const order = new SaturationOrder(unitStarts)
  let count = 0
  for (let unit = order.take(); unit !== undefined; unit = order.take()) {
    let chosen = 0
    while (chosen < most && (closed[chosen * unitCount + unit] === 1 || !fill.mayTake(unit, chosen))) chosen += 1
    if (chosen === most) return undefined
    classOf[unit] = chosen
    fill.add(unit, chosen)
    const row = chosen * unitCount
    if (chosen >= count) count = chosen + 1
    const lastEdge = unitStarts[unit + 1] as number
    for (let at = unitStarts[unit] as number; at < lastEdge; at += 1) {
      const edge = unitEdges[at] as number
      const begin = edgeStarts[edge] as number
      const end = edgeStarts[edge + 1] as number
      const spare = slack[edge] as number
      if (spare > 1) {
        let inside = 0
        for (let member = begin; member < end; member += 1) {
          if (classOf[edgeMembers[member] as number] === chosen) inside += 1
        }
        if (inside !== spare) continue
      }
      for (let member = begin; member < end; member += 1) {
        const other = edgeMembers[member] as number
        const cell = row + other
        if (closed[cell] === 1) continue
        closed[cell] = 1
        if (order.isWaiting(other)) order.raise(other)
      }
    }
  }
  return { classOf, count }
}
