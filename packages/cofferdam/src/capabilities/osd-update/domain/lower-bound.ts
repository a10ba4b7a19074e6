import type { SlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import type { RoundProblem } from './class-limits.ts'
import { findClique } from './find-clique.ts'

export interface LowerBound {
  readonly rounds: number
  readonly why: string
}

/** A number of rounds that no plan can beat, and why: the best of the bounds that are cheap to prove. */
export function lowerBoundOf(problem: RoundProblem): LowerBound {
  const { graph } = problem
  const unitCount = graph.osds.length
  if (unitCount === 0) return { rounds: 0, why: 'nothing is left to update' }
  const bounds: LowerBound[] = [{ rounds: 1, why: 'nothing stands against all at once' }]
  const edge = edgeBound(graph)
  if (edge !== undefined) bounds.push(edge)
  bounds.push(...limitBounds(problem))
  const sharing = findClique(graph)
  if (sharing.length > 1) {
    const names = sharing.map((unit) => `osd.${graph.osds[unit]}`)
    const shown = names.length > 4 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ')
    bounds.push({
      rounds: sharing.length,
      why: `${shown} share, each with each other, a placement group that can lose only one copy`,
    })
  }
  return bounds.reduce((best, bound) => (bound.rounds > best.rounds ? bound : best))
}

function edgeBound({ edgeStarts, slack }: SlackHypergraph): LowerBound | undefined {
  let best: LowerBound | undefined
  for (let edge = 0; edge < slack.length; edge += 1) {
    const members = (edgeStarts[edge + 1] as number) - (edgeStarts[edge] as number)
    const spare = slack[edge] as number
    const rounds = Math.ceil(members / spare)
    if (best !== undefined && rounds <= best.rounds) continue
    best = { rounds, why: `a placement group has ${members} copies to update and can lose ${spare} at a time` }
  }
  return best
}

function limitBounds({ graph, perClass, perGroup, groupOf, groupCount }: RoundProblem): LowerBound[] {
  const { length } = graph.osds
  const bounds = [
    { rounds: Math.ceil(length / perClass), why: `${length} OSDs are to be updated, at most ${perClass} in parallel` },
  ]
  const sizes = new Int32Array(groupCount)
  for (const group of groupOf) if (group >= 0) sizes[group] = (sizes[group] as number) + 1
  const largest = sizes.reduce((most, size) => Math.max(most, size), 0)
  if (largest > perGroup) {
    bounds.push({
      rounds: Math.ceil(largest / perGroup),
      why: `${largest} OSDs of one failure domain are to be updated, at most ${perGroup} of a domain in parallel`,
    })
  }
  return bounds
}
