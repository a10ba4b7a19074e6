import { ClassCosts } from './class-costs.ts'
import { ClassFill, classesOf, type Partition, type RoundProblem } from './class-limits.ts'
import { mixedNumbers } from './mixed-numbers.ts'

/** How many steps are taken between two looks at the budget. */
export const stepsPerLook = 256

/**
 * Tabu search for a partition with one class fewer: the smallest class is dissolved into the others, then units of broken
 * edges move, each to the class where it breaks the fewest, and for a while not back.
 *
 * Undefined when the budget ends first.
 */
export function withOneClassFewer(
  problem: RoundProblem,
  partition: Partition,
  mayGoOn: () => boolean,
): Partition | undefined {
  const count = partition.count - 1
  if (count < 1) return undefined
  const start = dissolveSmallest(problem, partition)
  if (start === undefined) return undefined
  const { costs, fill } = start
  const { classOf } = costs
  const barredUntil = new Int32Array(classOf.length * count)
  const numbers = mixedNumbers(classOf.length * 31 + count)
  for (let step = 1; costs.brokenCount > 0; step += 1) {
    if (step % stepsPerLook === 0 && !mayGoOn()) return undefined
    const unit = costs.broken[numbers.below(costs.brokenCount)] as number
    const from = classOf[unit] as number
    const row = unit * count
    let chosen = -1
    let least = Number.POSITIVE_INFINITY
    let ties = 0
    for (let to = 0; to < count; to += 1) {
      if (to === from) continue
      const cost = costs.cells[row + to] as number
      if (cost > least || ((barredUntil[row + to] as number) > step && cost > 0) || !fill.mayTake(unit, to)) continue
      ties = cost < least ? 1 : ties + 1
      if (cost === least && numbers.below(ties) !== 0) continue
      least = cost
      chosen = to
    }
    if (chosen < 0) continue
    fill.remove(unit, from)
    fill.add(unit, chosen)
    costs.move(unit, chosen)
    barredUntil[row + from] = step + 8 + numbers.below(10) + ((costs.brokenCount * 3) >> 2)
  }
  return { classOf, count }
}

function dissolveSmallest(
  problem: RoundProblem,
  partition: Partition,
): { readonly costs: ClassCosts; readonly fill: ClassFill } | undefined {
  const classes = classesOf(partition)
  const smallest = classes.reduce((least, units, at) => (units.length < (classes[least]?.length ?? 0) ? at : least), 0)
  const last = partition.count - 1
  const classOf = partition.classOf.slice()
  for (const unit of classes[last] ?? []) classOf[unit] = smallest
  for (const unit of classes[smallest] ?? []) classOf[unit] = -1
  const fill = new ClassFill(problem)
  for (let unit = 0; unit < classOf.length; unit += 1) {
    if ((classOf[unit] as number) >= 0) fill.add(unit, classOf[unit] as number)
  }
  const costs = new ClassCosts(problem.graph, classOf, last)
  for (const unit of classes[smallest] ?? []) {
    let chosen = -1
    for (let to = 0; to < last; to += 1) {
      if (!fill.mayTake(unit, to)) continue
      if (chosen < 0 || (costs.cells[unit * last + to] as number) < (costs.cells[unit * last + chosen] as number))
        chosen = to
    }
    if (chosen < 0) return undefined
    fill.add(unit, chosen)
    costs.move(unit, chosen)
  }
  return { costs, fill }
}
