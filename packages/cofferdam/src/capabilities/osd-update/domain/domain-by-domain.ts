import type { CephMap } from '../../../safety/ceph-map.ts'
import { domainsOf, failureDomainTypeOf } from '../../../safety/failure-domain.ts'
import type { SlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import { ClassFill, type Partition, type RoundProblem } from './class-limits.ts'
import { firstFit } from './first-fit.ts'
import { RunningSet } from './running-set.ts'

/** The types that the pools' rules spread over, the narrowest of all first. */
export function domainTypesOf(map: CephMap): string[] {
  const rules = new Map(map.crush.rules.map((rule) => [rule.id, rule.failureDomain]))
  const used = map.pools.map(({ crushRuleId }) => rules.get(crushRuleId) ?? 'osd')
  const spread = used.filter((type) => type !== 'osd' && map.crush.typeOrder.includes(type))
  return [...new Set([failureDomainTypeOf(map).type, ...spread])]
}

/** The units of each domain that has any, in the order of the domains' names; those of no domain come last, together. */
export function unitsByDomain(map: CephMap, graph: SlackHypergraph, type: string): number[][] {
  const unitOf = new Map<number, number>()
  for (const [unit, id] of graph.osds.entries()) unitOf.set(id, unit)
  const domains: number[][] = []
  for (const osds of domainsOf(map, type).osdsByDomain.values()) {
    const units: number[] = []
    for (const id of osds) {
      const unit = unitOf.get(id)
      if (unit === undefined) continue
      units.push(unit)
      unitOf.delete(id)
    }
    if (units.length > 0) domains.push(units)
  }
  if (unitOf.size > 0) domains.push([...unitOf.values()])
  return domains
}

/**
 * What an administrator does by hand: one failure domain after the other, several at a time where every placement group can
 * lose several copies. Where a whole domain is more than may stop together, its units are parted by first fit.
 */
export function domainByDomain(problem: RoundProblem, domains: readonly (readonly number[])[]): Partition {
  const { graph } = problem
  const classOf = new Int32Array(graph.osds.length).fill(-1)
  const together = graph.slack.reduce((least, spare) => Math.min(least, spare), Math.max(domains.length, 1))
  const running = new RunningSet(graph)
  let count = 0
  for (let at = 0; at < domains.length; at += together) {
    const units = domains.slice(at, at + together).flat()
    const part = fitsAsOne(problem, running, units) ? undefined : firstFit(problem, Int32Array.from(units))
    for (const unit of units) classOf[unit] = count + (part?.classOf[unit] ?? 0)
    count += part?.count ?? 1
  }
  return { classOf, count }
}

function fitsAsOne(problem: RoundProblem, running: RunningSet, units: readonly number[]): boolean {
  const fill = new ClassFill(problem)
  let added = 0
  for (const unit of units) {
    if (!fill.mayTake(unit, 0) || !running.mayAdd(unit)) break
    fill.add(unit, 0)
    running.add(unit)
    added += 1
  }
  for (const unit of units.slice(0, added)) running.remove(unit)
  return added === units.length
}
