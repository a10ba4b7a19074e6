import type { SlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import { classesOf, type Partition, type RoundProblem } from './class-limits.ts'
import { withFewerClasses } from './fewer-classes.ts'
import { fewestClasses } from './fewest-classes.ts'
import { firstFitByClasses } from './first-fit.ts'
import { mixedNumbers } from './mixed-numbers.ts'
import { mostConstrainedFirst } from './most-constrained-first.ts'

/** A way to part the units, and how it was found. */
export interface Attempt {
  readonly partition: Partition
  readonly how: string
}

/** Members visited by reorderings: large clusters get few, small ones many. */
const reorderingWork = 2_000_000
const mostReorderings = 30
const searchWork = 6_000

/**
 * The best of the given attempts, of DSATUR, and of what improving the best of them gives.
 *
 * Guarantees: never more classes than the best attempt; as few as possible where the cluster is small enough to try all.
 */
export function fewestRounds(given: {
  readonly problem: RoundProblem
  readonly attempts: readonly Attempt[]
  readonly atLeast: number
  readonly mayGoOn: () => boolean
}): Attempt {
  const { problem, atLeast, mayGoOn } = given
  let best = given.attempts.reduce((least, one) => (one.partition.count < least.partition.count ? one : least))
  if (best.partition.count <= atLeast) return best
  const constrained = mostConstrainedFirst(problem, best.partition.count - 1)
  if (constrained !== undefined) best = { partition: constrained, how: 'most constrained OSD first' }
  best = reordered(problem, best, atLeast)
  if (best.partition.count <= atLeast) return best
  const { partition, isProved } = fewestClasses(problem, best.partition.count, atLeast)
  if (partition !== undefined) best = { partition, how: 'every possibility tried' }
  if (isProved) return { ...best, how: `${best.how}; no plan has fewer rounds` }
  const fewer = withFewerClasses({ problem, partition: best.partition, atLeast, mayGoOn })
  const saved = best.partition.count - fewer.count
  return saved === 0 ? best : { partition: fewer, how: `${best.how}, then ${saved} fewer by search` }
}

/** Iterated greedy: the classes are filled again in another order, which can only make them fewer. */
function reordered(problem: RoundProblem, start: Attempt, atLeast: number): Attempt {
  const { graph } = problem
  const passes = Math.min(Math.floor(reorderingWork / (workOf(graph) + graph.osds.length + 1)), mostReorderings)
  const numbers = mixedNumbers(graph.osds.length)
  let { partition } = start
  for (let pass = 0; pass < passes && partition.count > atLeast; pass += 1) {
    const classes = classesOf(partition)
    const sizeOf = (at: number) => (classes[at] as readonly number[]).length
    const order = classes.map((_, at) => at)
    if (pass % 3 === 0) order.reverse()
    else if (pass % 3 === 1) order.sort((a, b) => sizeOf(b) - sizeOf(a) || a - b)
    else for (let at = order.length - 1; at > 0; at -= 1) swap(order, at, numbers.below(at + 1))
    partition = firstFitByClasses(problem, partition, order)
  }
  if (partition.count === start.partition.count) return start
  return { partition, how: `${start.how}, rounds filled again` }
}

function swap(list: number[], a: number, b: number): void {
  const kept = list[a] as number
  list[a] = list[b] as number
  list[b] = kept
}

/** What it costs to visit every member of every edge of every unit. */
function workOf({ edgeStarts, slack }: SlackHypergraph): number {
  let work = 0
  for (let edge = 0; edge < slack.length; edge += 1) {
    work += ((edgeStarts[edge + 1] as number) - (edgeStarts[edge] as number)) ** 2
  }
  return work
}

/** A budget for the search that is no clock: fewer steps where each costs more, and where there is little to move. */
export function fixedBudget(graph: SlackHypergraph): () => boolean {
  const perStep = workOf(graph) / Math.max(graph.osds.length, 1)
  let stepsLeft = Math.min(searchWork / Math.max(perStep, 1), 4 + graph.osds.length / 16)
  return () => {
    stepsLeft -= 1
    return stepsLeft >= 0
  }
}
