import type { ObjectProblem } from '../shared/object-problem.ts'
import type { CephMap, CrushBucket } from './ceph-map.ts'

const fallbackType = 'host'

/**
 * The narrowest type that the CRUSH rule of any pool enforces: what may go down together without a second copy going.
 *
 * A rule that spreads over OSDs only protects from no larger loss, so it cannot choose the type; it is reported, like every
 * pool whose rule cannot be used, and the other pools decide.
 */
export function failureDomainTypeOf({ pools, crush }: CephMap): {
  readonly type: string
  readonly problems: readonly ObjectProblem[]
} {
  const rules = new Map(crush.rules.map((rule) => [rule.id, rule]))
  const problems: ObjectProblem[] = []
  let narrowest = Number.POSITIVE_INFINITY
  for (const { name, crushRuleId } of pools) {
    const rule = rules.get(crushRuleId)
    const rank = rule === undefined ? -1 : crush.typeOrder.indexOf(rule.failureDomain)
    const problem =
      rule === undefined
        ? `its CRUSH rule ${crushRuleId} is not in the CRUSH map`
        : rule.failureDomain === 'osd'
          ? `its CRUSH rule ${rule.name} spreads copies over OSDs only: the loss of one ${fallbackType} can take several`
          : rank < 0
            ? `its CRUSH rule ${rule.name} spreads over ${rule.failureDomain || 'no type'}, which the CRUSH map does not have`
            : undefined
    if (problem !== undefined) problems.push({ object: `pool/${name}`, problem })
    else narrowest = Math.min(narrowest, rank)
  }
  return { type: crush.typeOrder[narrowest] ?? fallbackType, problems }
}

export interface FailureDomains {
  /** The OSDs of each bucket that has any, ascending, in the order of the buckets' names. */
  readonly osdsByDomain: ReadonlyMap<string, readonly number[]>
  readonly problems: readonly ObjectProblem[]
}

/** The OSDs of the map, by the buckets of one type; OSDs outside every such bucket are reported. */
export function domainsOf(map: CephMap, type: string): FailureDomains {
  const buckets = new Map(map.crush.buckets.map((bucket) => [bucket.id, bucket]))
  const existing = new Set(map.osds.map(({ id }) => id))
  const placed = new Map<number, string>()
  const problems: ObjectProblem[] = []
  const found: [string, readonly number[]][] = []
  const ofType = map.crush.buckets.filter((bucket) => bucket.type === type)
  for (const bucket of ofType.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const osds: number[] = []
    for (const id of osdsBelow(bucket, buckets)) {
      const object = `osd/${id}`
      const other = placed.get(id)
      if (!existing.has(id)) problems.push({ object, problem: `${bucket.name} has it, but the OSD map does not` })
      else {
        if (other !== undefined) problems.push({ object, problem: `it is in both ${other} and ${bucket.name}` })
        else placed.set(id, bucket.name)
        osds.push(id)
      }
    }
    if (osds.length > 0) found.push([bucket.name, osds])
  }
  for (const id of [...existing].sort((a, b) => a - b)) {
    if (!placed.has(id)) problems.push({ object: `osd/${id}`, problem: `it is in no ${type} of the CRUSH map` })
  }
  return { osdsByDomain: new Map(found), problems }
}

/** The bucket of that type which the OSD is in; the first by name should CRUSH have it in several. */
export function domainOfOsd(map: CephMap, type: string, osd: number): string | undefined {
  for (const [domain, osds] of domainsOf(map, type).osdsByDomain) if (osds.includes(osd)) return domain
  return undefined
}

/** Ascending. A bucket that contains itself is walked once. */
function osdsBelow(top: CrushBucket, buckets: ReadonlyMap<number, CrushBucket>): number[] {
  const seen = new Set<number>([top.id])
  const waiting = [top]
  const osds: number[] = []
  for (let bucket = waiting.pop(); bucket !== undefined; bucket = waiting.pop()) {
    for (const child of bucket.children) {
      if (seen.has(child)) continue
      seen.add(child)
      const below = buckets.get(child)
      if (below !== undefined) waiting.push(below)
      else if (child >= 0) osds.push(child)
    }
  }
  return osds.sort((a, b) => a - b)
}
