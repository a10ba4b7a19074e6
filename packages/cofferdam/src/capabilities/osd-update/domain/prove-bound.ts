import { buildSlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import type { PlanInput, RoundPlan } from './plan-rounds.ts'
import { spectralBound } from './spectral-bound.ts'

/** The plan with the best lower bound that can be proved. Costs more than planning itself, so only where somebody reads it. */
export function withProvedBound(
  plan: RoundPlan,
  { map, targets, reserve = 0, sites = [] }: Pick<PlanInput, 'map' | 'targets' | 'reserve' | 'sites'>,
): RoundPlan {
  const { rounds, lowerBound } = plan
  if (rounds.length <= lowerBound.rounds) return plan
  const graph = buildSlackHypergraph({ map, targets, reserve, sites })
  return { ...plan, lowerBound: spectralBound(graph, lowerBound.rounds) ?? lowerBound }
}
