import { ClassFill, classesOf, type Partition, type RoundProblem } from './class-limits.ts'

/**
 * One after the other, each unit goes into the first class that it fits into.
 *
 * Guarantees: when the order runs through safe sets within the limits, one after the other, there are no more classes than
 * such sets: a class with the number of a set can only have got units of that set or of later ones, and every part of a safe
 * set is safe.
 */
export function firstFit(problem: RoundProblem, order: Int32Array): Partition {
  const { graph } = problem
  const { edgeStarts, edgeMembers, slack, unitStarts, unitEdges } = graph
  const classOf = new Int32Array(graph.osds.length).fill(-1)
  const fill = new ClassFill(problem)
  const taken = new Int32Array(graph.osds.length + 1)
  const counted = new Int32Array(graph.osds.length + 1)
  const counts = new Int32Array(graph.osds.length + 1)
  let count = 0
  let tick = 0
  for (let turn = 0; turn < order.length; turn += 1) {
    const unit = order[turn] as number
    const mark = turn + 1
    const lastEdge = unitStarts[unit + 1] as number
    for (let at = unitStarts[unit] as number; at < lastEdge; at += 1) {
      const edge = unitEdges[at] as number
      const spare = slack[edge] as number
      const end = edgeStarts[edge + 1] as number
      tick += 1
      for (let member = edgeStarts[edge] as number; member < end; member += 1) {
        const other = classOf[edgeMembers[member] as number] as number
        if (other < 0) continue
        if (spare === 1) {
          taken[other] = mark
          continue
        }
        counts[other] = counted[other] === tick ? (counts[other] as number) + 1 : 1
        counted[other] = tick
        if ((counts[other] as number) >= spare) taken[other] = mark
      }
    }
    let chosen = 0
    while (taken[chosen] === mark || !fill.mayTake(unit, chosen)) chosen += 1
    classOf[unit] = chosen
    fill.add(unit, chosen)
    if (chosen >= count) count = chosen + 1
  }
  return { classOf, count }
}

/** Runs through the classes of a partition in another order; never gives more classes than there are. */
export function firstFitByClasses(
  problem: RoundProblem,
  partition: Partition,
  classOrder: readonly number[],
): Partition {
  const classes = classesOf(partition)
  const order = new Int32Array(partition.classOf.length)
  let end = 0
  for (const at of classOrder) {
    for (const unit of classes[at] as readonly number[]) {
      order[end] = unit
      end += 1
    }
  }
  return firstFit(problem, order)
}
