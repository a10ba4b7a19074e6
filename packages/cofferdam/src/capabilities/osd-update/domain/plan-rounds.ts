import type { CephMap, SiteRule } from '../../../safety/ceph-map.ts'
import { failureDomainTypeOf } from '../../../safety/failure-domain.ts'
import { buildSlackHypergraph, type SlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import type { BlockedOsd } from '../../../safety/slack-hypergraph-blocks.ts'
import { partOfHypergraph } from '../../../safety/slack-hypergraph-part.ts'
import { fewestWithCanary, withCanary } from './canary-rounds.ts'
import { classesOf, type Partition, type RoundProblem } from './class-limits.ts'
import { domainByDomain, domainTypesOf, unitsByDomain } from './domain-by-domain.ts'
import { emulateRook, rookMax } from './emulate-rook.ts'
import { type Attempt, fewestRounds, fixedBudget } from './fewest-rounds.ts'
import { firstFitByClasses } from './first-fit.ts'
import { type LowerBound, lowerBoundOf } from './lower-bound.ts'
import { downFirst, smallestFirst } from './round-order.ts'

export interface PlanInput {
  readonly map: CephMap
  readonly targets: readonly number[]
  readonly maxParallel: number
  /** How many copies beyond its pool's min_size each placement group must keep. */
  readonly reserve?: number
  /** `by-domain`: all OSDs of a failure domain are done before the next domain begins. */
  readonly order?: 'fewest-rounds' | 'by-domain'
  /** CRUSH type of the failure domains for order and cap; by default what the pools' rules say. */
  readonly domainType?: string
  /** The first rounds have one OSD, two, four and so on. */
  readonly canary?: boolean
  /** At most so many OSDs of one failure domain in one round. */
  readonly perDomainCap?: number
  readonly sites?: readonly SiteRule[]
  /** Asked now and then while the search for fewer rounds goes on, until it says no; without it the steps are counted. */
  readonly mayGoOn?: () => boolean
}

export interface RoundPlan {
  /** Ids ascending within a round. */
  readonly rounds: readonly (readonly number[])[]
  readonly lowerBound: LowerBound
  readonly blocked: readonly BlockedOsd[]
  readonly how: string
}

/**
 * In which rounds to stop the targets, as few as can be found.
 *
 * An OSD that is down already is in the first round that has room, but no canary in its own right: stopping it takes nothing away, it
 * says nothing about the change, and its return can only add copies.
 *
 * Guarantees: every target is in exactly one round or blocked; every round is a safe set by the rules of the safety index, with
 * at most `maxParallel` OSDs. Without canary and domain order there are never more rounds than domain by domain, nor (without a
 * cap per domain) than Rook's way takes with the same limit. The same input gives the same plan.
 * Assumes: all OSDs of a round are back, and their placement groups as they were, before the next round.
 */
export function planRounds(input: PlanInput): RoundPlan {
  const { map, targets, reserve = 0, sites = [] } = input
  const graph = buildSlackHypergraph({ map, targets, reserve, sites })
  const { blocked } = graph
  const type = input.domainType ?? failureDomainTypeOf(map).type
  const problem = problemOf(graph, input, unitsByDomain(map, graph, type))
  const mayGoOn = input.mayGoOn ?? fixedBudget(graph)
  if (graph.osds.length === 0) return { rounds: [], lowerBound: lowerBoundOf(problem), blocked, how: 'nothing to plan' }
  const found =
    input.order === 'by-domain'
      ? inDomainOrder(problem, { domains: unitsByDomain(map, graph, type), type, mayGoOn })
      : inFewestRounds(problem, { input, type, mayGoOn })
  const isCanary = input.canary === true
  const inOrder = isCanary ? withCanary(found.rounds) : found.rounds
  const placed = input.order === 'by-domain' ? inOrder : downFirst(problem, found.rounds, isCanary)
  return {
    rounds: placed.map((round) => round.map((unit) => graph.osds[unit] as number).sort((a, b) => a - b)),
    lowerBound: isCanary ? boundWithCanary(problem, found.lowerBound) : found.lowerBound,
    blocked,
    how: found.how,
  }
}

interface Found {
  /** Units. */
  readonly rounds: readonly (readonly number[])[]
  readonly lowerBound: LowerBound
  readonly how: string
}

function inFewestRounds(
  problem: RoundProblem,
  given: { readonly input: PlanInput; readonly type: string; readonly mayGoOn: () => boolean },
): Found {
  const { input, type, mayGoOn } = given
  const lowerBound = lowerBoundOf(problem)
  const attempts: Attempt[] = []
  for (const each of new Set([type, ...domainTypesOf(input.map)])) {
    const partition = domainByDomain(problem, unitsByDomain(input.map, problem.graph, each))
    attempts.push({ partition, how: `${each} by ${each}` })
    if (partition.count <= lowerBound.rounds) break
    const order = Array.from({ length: partition.count }, (_, at) => at)
    attempts.push({
      partition: firstFitByClasses(problem, partition, order),
      how: `first fit in the order of the ${each}s`,
    })
  }
  const best = Math.min(...attempts.map(({ partition }) => partition.count))
  const mayRookBeShorter = best > Math.max(lowerBound.rounds, Math.ceil(problem.graph.osds.length / rookMax))
  if (input.perDomainCap === undefined && mayRookBeShorter) {
    attempts.push({ partition: asRook(problem, input), how: "Rook's way" })
  }
  const { partition, how } = fewestRounds({ problem, attempts, atLeast: lowerBound.rounds, mayGoOn })
  return { rounds: smallestFirst(problem.graph, classesOf(partition)), lowerBound, how }
}

function inDomainOrder(
  problem: RoundProblem,
  given: { readonly domains: readonly (readonly number[])[]; readonly type: string; readonly mayGoOn: () => boolean },
): Found {
  const rounds: number[][] = []
  let least = 0
  for (const units of given.domains) {
    const part = {
      ...problem,
      graph: partOfHypergraph(problem.graph, units),
      groupOf: Int32Array.from(units, (unit) => problem.groupOf[unit] as number),
    }
    const atLeast = lowerBoundOf(part).rounds
    least += atLeast
    const partition = domainByDomain(part, [units.map((_, at) => at)])
    const attempts = [{ partition, how: '' }]
    const found = fewestRounds({ problem: part, attempts, atLeast, mayGoOn: given.mayGoOn })
    for (const round of smallestFirst(part.graph, classesOf(found.partition)))
      rounds.push(round.map((at) => units[at] as number))
  }
  const why = `${given.domains.length} times ${given.type} after ${given.type}, each in the fewest rounds that its own OSDs allow`
  return { rounds, lowerBound: { rounds: least, why }, how: `one ${given.type} after the other` }
}

function problemOf(graph: SlackHypergraph, input: PlanInput, domains: readonly (readonly number[])[]): RoundProblem {
  const perGroup = wholeAndPositive(input.perDomainCap ?? Number.POSITIVE_INFINITY)
  const groupOf = new Int32Array(graph.osds.length).fill(-1)
  for (const [group, units] of domains.entries()) for (const unit of units) groupOf[unit] = group
  return { graph, perClass: wholeAndPositive(input.maxParallel), perGroup, groupOf, groupCount: domains.length }
}

/** Fails closed: a limit that is none lets one at a time. */
function wholeAndPositive(limit: number): number {
  return limit >= 1 ? Math.floor(limit) : 1
}

function asRook({ graph, perClass }: RoundProblem, { map, targets, reserve = 0, sites = [] }: PlanInput): Partition {
  const { batches } = emulateRook({ map, targets, reserve, sites, max: Math.min(rookMax, perClass) })
  const roundOf = new Map(batches.flatMap((batch, at) => batch.map((id) => [id, at] as const)))
  return { classOf: Int32Array.from(graph.osds, (id) => roundOf.get(id) as number), count: batches.length }
}

function boundWithCanary({ graph, perClass }: RoundProblem, bound: LowerBound): LowerBound {
  const rounds = fewestWithCanary(graph.osds.length, perClass)
  if (rounds <= bound.rounds) return bound
  return { rounds, why: `${graph.osds.length} OSDs are to be updated, one first, then at most two, four and so on` }
}
