import { ClassCosts } from './class-costs.ts'
import { ClassFill, type Partition, type RoundProblem } from './class-limits.ts'
import { mixedNumbers } from './mixed-numbers.ts'

/** How many steps are taken between two checks of the budget. */
const stepsPerCheck = 256
/** How many of the broken units are considered for one step: with a few the steps are much cheaper and hardly worse. */
const considered = 8

/**
 * Tabu search for fewer classes, one at a time: the smallest is dissolved into the others, then units of broken edges move,
 * of a few at a time the one that breaks the fewest, and for a while not back. A unit stays barred for longer the more is broken: on
 * large clusters short bars only stir the same few units.
 *
 * Ends when `atLeast` is reached or the budget is used up; returns the last partition that broke nothing.
 */
export function withFewerClasses(given: {
  readonly problem: RoundProblem
  readonly partition: Partition
  readonly atLeast: number
  readonly mayGoOn: () => boolean
}): Partition {
  const { problem, atLeast, mayGoOn } = given
  let best = given.partition
  if (best.count <= atLeast || best.count < 2 || !mayGoOn()) return best
  const costs = new ClassCosts(problem.graph, best)
  const fill = new ClassFill(problem)
  for (const [unit, its] of best.classOf.entries()) fill.add(unit, its)
  const barredUntil = new Int32Array(costs.cells.length)
  const numbers = mixedNumbers(best.classOf.length)
  let steps = 0
  while (best.count > Math.max(atLeast, 1)) {
    const count = best.count - 1
    if (!dissolveSmallest(costs, fill, count) || !mend(count)) return best
    best = { classOf: costs.classOf.slice(), count }
  }
  return best

  /** Whether nothing is broken any more. */
  function mend(count: number): boolean {
    const { broken, cells, classOf } = costs
    const stride = given.partition.count
    for (; costs.brokenCount > 0; steps += 1) {
      if (steps % stepsPerCheck === 0 && !mayGoOn()) return false
      let unit = -1
      let into = -1
      let least = Number.POSITIVE_INFINITY
      let ties = 0
      const first = costs.brokenCount > considered ? numbers.below(costs.brokenCount) : 0
      for (let at = 0; at < costs.brokenCount && at < considered; at += 1) {
        const each = broken[(first + at) % costs.brokenCount] as number
        const from = classOf[each] as number
        const row = each * stride
        const now = cells[row + from] as number
        for (let to = 0; to < count; to += 1) {
          const cost = cells[row + to] as number
          if (cost - now > least || to === from) continue
          if (((barredUntil[row + to] as number) > steps && cost > 0) || !fill.mayTake(each, to)) continue
          ties = cost - now < least ? 1 : ties + 1
          if (ties > 1 && numbers.below(ties) !== 0) continue
          least = cost - now
          unit = each
          into = to
        }
      }
      if (unit < 0) continue
      const from = classOf[unit] as number
      fill.remove(unit, from)
      fill.add(unit, into)
      costs.move(unit, into)
      barredUntil[unit * stride + from] = steps + costs.brokenCount + numbers.below(10)
    }
    return true
  }
}

/** Moves the units of the smallest class where they break the fewest edges; false when the others have no room for them. */
function dissolveSmallest(costs: ClassCosts, fill: ClassFill, last: number): boolean {
  const sizes = new Int32Array(last + 1)
  for (const its of costs.classOf) sizes[its] = (sizes[its] as number) + 1
  const smallest = sizes.indexOf(Math.min(...sizes))
  for (let unit = 0; unit < costs.classOf.length; unit += 1) {
    if (costs.classOf[unit] !== smallest) continue
    let into = -1
    for (let to = 0; to <= last; to += 1) {
      if (to === smallest || !fill.mayTake(unit, to)) continue
      if (into < 0 || costs.costOf(unit, to) < costs.costOf(unit, into)) into = to
    }
    if (into < 0) return false
    fill.remove(unit, smallest)
    fill.add(unit, into)
    costs.move(unit, into)
  }
  if (smallest !== last) {
    fill.renumberLast(last, smallest)
    costs.renumberLast(last, smallest)
  }
  return true
}
