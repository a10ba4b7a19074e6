import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import type { CephMap } from '../../../safety/ceph-map.ts'
import { failureDomainTypeOf } from '../../../safety/failure-domain.ts'
import { buildSafetyIndex } from '../../../safety/safety-index.ts'
import { buildSlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import type { RoundProblem } from './class-limits.ts'
import { domainByDomain, domainTypesOf, unitsByDomain } from './domain-by-domain.ts'
import { emulateRook } from './emulate-rook.ts'
import { type PlanInput, planRounds, type RoundPlan } from './plan-rounds.ts'
import { recheckRound } from './recheck-round.ts'
import { randomCluster } from './testing/random-cluster.ts'

/** The benchmark does the same with 10,000. */
const clusterCount = 300

interface Case {
  readonly name: string
  readonly input: PlanInput
  readonly plan: RoundPlan
}

function cases(seed: number): Case[] {
  const random = seededRandom(seed)
  return Array.from({ length: clusterCount }, (_, at): Case => {
    const map = randomCluster(() => random.next())
    const share = random.next()
    const targets = map.osds.map(({ id }) => id).filter(() => share < 0.7 || random.next() < 0.6)
    const maxParallel = random.next() < 0.5 ? map.osds.length : 1 + Math.floor(random.next() * 8)
    const reserve = random.next() < 0.15 ? 1 : 0
    const input = { map, targets, maxParallel, reserve }
    return { name: `cluster ${at}`, input, plan: planRounds(input) }
  })
}

function problemOf({ map, targets, maxParallel, reserve = 0 }: PlanInput): RoundProblem {
  const graph = buildSlackHypergraph({ map, targets, reserve })
  const groupOf = new Int32Array(graph.osds.length).fill(-1)
  return { graph, perClass: maxParallel, perGroup: Number.POSITIVE_INFINITY, groupOf, groupCount: 0 }
}

function unsafeRounds({ name, input, plan }: Case): string[] {
  const { map, reserve = 0, maxParallel } = input
  const index = buildSafetyIndex(map, { reserve })
  return plan.rounds.flatMap((osds) => {
    const second = recheckRound({ map, osds, reserve })
    return [
      ...(index.mayStop(osds).may === 'yes' ? [] : [`${name}: the safety index refuses ${osds.join(', ')}`]),
      ...(second.isSafe ? [] : [`${name}: ${second.why}`]),
      ...(osds.length <= maxParallel && osds.length > 0 ? [] : [`${name}: ${osds.length} at once`]),
    ]
  })
}

function placedTwiceOrNever({ name, input, plan }: Case): string[] {
  const all = [...plan.rounds.flat(), ...plan.blocked.map(({ osd }) => osd)].sort((a, b) => a - b)
  const wanted = [...input.targets].sort((a, b) => a - b)
  return all.join() === wanted.join() ? [] : [`${name}: ${all.join()} instead of ${wanted.join()}`]
}

describe('the plan of an OSD update, on random clusters', () => {
  const planned = cases(8)

  it('has only rounds that the safety index and the second check both let stop, within the limit', () => {
    expect(planned.flatMap(unsafeRounds)).toEqual([])
  })

  it('has every OSD in exactly one round, or blocked', () => {
    expect(planned.flatMap(placedTwiceOrNever)).toEqual([])
  })

  it('blocks exactly those that the safety index would not let stop alone', () => {
    const wrong = planned.flatMap(({ name, input: { map, targets, reserve = 0 }, plan }) => {
      const index = buildSafetyIndex(map, { reserve })
      const refused = targets.filter((id) => index.mayStop([id]).may !== 'yes').sort((a, b) => a - b)
      const blocked = plan.blocked.map(({ osd }) => osd)
      return refused.join() === blocked.join() ? [] : [`${name}: ${blocked.join()} instead of ${refused.join()}`]
    })
    expect(wrong).toEqual([])
  })

  it('never takes more rounds than domain by domain, nor than the way of Rook with the same limit', () => {
    const longer = planned.flatMap(({ name, input, plan }) => {
      const problem = problemOf(input)
      const byDomain = domainTypesOf(input.map).map(
        (type) => domainByDomain(problem, unitsByDomain(input.map, problem.graph, type)).count,
      )
      const { map, targets, reserve = 0, maxParallel } = input
      const rook = emulateRook({ map, targets, reserve, max: Math.min(maxParallel, 20) })
      const best = Math.min(...byDomain, rook.batches.length)
      return plan.rounds.length <= best ? [] : [`${name}: ${plan.rounds.length} rounds instead of ${best}`]
    })
    expect(longer).toEqual([])
  })

  it('is never shorter than the bound that it gives', () => {
    expect(planned.filter(({ plan }) => plan.rounds.length < plan.lowerBound.rounds).map(({ name }) => name)).toEqual(
      [],
    )
  })

  it('is the same when it is made again', () => {
    const few = planned.slice(0, 30)
    expect(few.map(({ input }) => planRounds(input))).toEqual(few.map(({ plan }) => plan))
  })

  it('keeps all of that when it begins with canaries, caps each domain or goes domain by domain', () => {
    const broken = planned.slice(0, 120).flatMap(({ name, input }, at) => {
      const options: Partial<PlanInput>[] = [
        { canary: true },
        { perDomainCap: 1 + (at % 3) },
        { order: 'by-domain' },
        { order: 'by-domain', canary: true, perDomainCap: 2 },
      ]
      return options.flatMap((option) => {
        const given = { ...input, ...option }
        const one = { name: `${name} with ${JSON.stringify(option)}`, input: given, plan: planRounds(given) }
        return [...unsafeRounds(one), ...placedTwiceOrNever(one), ...optionProblems(one)]
      })
    })
    expect(broken).toEqual([])
  })
})

function optionProblems({ name, input, plan }: Case): string[] {
  const { canary, order, perDomainCap = Number.POSITIVE_INFINITY, map } = input
  const domainOf = domainsById(map)
  const problems: string[] = []
  if (plan.rounds.length < plan.lowerBound.rounds) problems.push(`${name}: fewer rounds than the lower bound`)
  if (canary === true && plan.rounds.some((round, at) => round.length > 2 ** at))
    problems.push(`${name}: grows too fast`)
  const visited: number[] = []
  for (const round of plan.rounds) {
    const domains = round.map((id) => domainOf.get(id) ?? -1)
    const most = Math.max(...domains.map((one) => domains.filter((other) => other === one).length))
    if (most > perDomainCap) problems.push(`${name}: ${most} OSDs of one domain at once`)
    for (const one of new Set(domains)) if (visited.at(-1) !== one) visited.push(one)
  }
  if (order === 'by-domain' && new Set(visited).size !== visited.length)
    problems.push(`${name}: comes back to a domain`)
  return problems
}

function domainsById(map: CephMap): Map<number, number> {
  const { graph } = problemOf({ map, targets: map.osds.filter(({ isUp }) => isUp).map(({ id }) => id), maxParallel: 1 })
  const everything = { ...graph, osds: Int32Array.from(map.osds, ({ id }) => id) }
  const groups = unitsByDomain(map, everything, failureDomainTypeOf(map).type)
  return new Map(groups.flatMap((units, at) => units.map((unit) => [everything.osds[unit] as number, at] as const)))
}
