import type { SlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import { withCanary } from './canary-rounds.ts'
import { ClassFill, type RoundProblem } from './class-limits.ts'

/** Small rounds first, for what goes wrong there hurts least. Within a round, OSDs that are down come last. */
export function smallestFirst(graph: SlackHypergraph, classes: readonly (readonly number[])[]): number[][] {
  const rounds = classes.map((units) =>
    [...units].sort((a, b) => (graph.isDown[a] as number) - (graph.isDown[b] as number) || a - b),
  )
  return rounds.sort((a, b) => a.length - b.length || (a[0] as number) - (b[0] as number))
}

/** Puts what is down already into the first round with room; leaves it where it is when that would take a round more. */
export function downFirst(
  problem: RoundProblem,
  rounds: readonly (readonly number[])[],
  isCanary: boolean,
): readonly (readonly number[])[] {
  const { isDown } = problem.graph
  const moved = rounds.flat().filter((unit) => isDown[unit] === 1)
  const ramp = (all: readonly (readonly number[])[]) => (isCanary ? withCanary(all) : all)
  if (moved.length === 0) return ramp(rounds)
  const others = rounds.map((round) => round.filter((unit) => isDown[unit] === 0)).filter((round) => round.length > 0)
  const placed = ramp(others).map((round) => [...round])
  const fill = new ClassFill(problem)
  for (const [at, round] of placed.entries()) for (const unit of round) fill.add(unit, at)
  for (const unit of moved.sort((a, b) => a - b)) {
    let at = 0
    while (!fill.mayTake(unit, at) || (isCanary && (placed[at]?.length ?? 0) >= 2 ** at)) at += 1
    fill.add(unit, at)
    placed[at] = [...(placed[at] ?? []), unit]
  }
  const asTheyWere = ramp(rounds)
  return placed.length > asTheyWere.length ? asTheyWere : placed
}
