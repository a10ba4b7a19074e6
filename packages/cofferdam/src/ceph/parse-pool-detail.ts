import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { SiteRule } from '../safety/ceph-map.ts'
import type { Observed } from '../shared/observed.ts'
import { countAt, listAt, objectAt, observeShape, textAt } from './json-shape.ts'

export interface PoolDetail {
  readonly id: number
  readonly name: string
  readonly size: number
  readonly minSize: number
  readonly crushRuleId: number
  readonly pgCount: number
  /** The epoch in which it was changed last. */
  readonly changedAt: number
  /** The number of the type whose buckets must all have a copy for its placement groups to peer: stretch mode. */
  readonly siteType?: number
}

/** Reads `osd pool ls detail`. */
export function parsePoolDetail(json: unknown): Observed<readonly PoolDetail[]> {
  return observeShape('osd pool ls detail', () =>
    listAt(json, 'osd pool ls detail').map((value, index) => {
      const where = `[${index}]`
      const pool = objectAt(value, where)
      return {
        // Releases before Nautilus say `pool`.
        id: countAt(pool['pool_id'] ?? pool['pool'], `${where}.pool_id`),
        name: textAt(pool['pool_name'], `${where}.pool_name`),
        size: countAt(pool['size'], `${where}.size`),
        minSize: countAt(pool['min_size'], `${where}.min_size`),
        crushRuleId: countAt(pool['crush_rule'], `${where}.crush_rule`),
        pgCount: countAt(pool['pg_num'], `${where}.pg_num`),
        changedAt: countAt(pool['last_change'] ?? 0, `${where}.last_change`),
        ...readSiteType(pool, where),
      }
    }),
  )
}

/** `osd dump` says it in the same fields. */
export function readSiteType(pool: JsonObject, where: string): Pick<PoolDetail, 'siteType'> {
  const sites = countAt(pool['peering_crush_bucket_count'] ?? 0, `${where}.peering_crush_bucket_count`)
  const barrier = countAt(pool['peering_crush_bucket_barrier'] ?? 0, `${where}.peering_crush_bucket_barrier`)
  return sites > 1 && barrier > 0 ? { siteType: barrier } : {}
}

/** Which pools must keep a copy in every site. A type that nobody names is left under its number, which no bucket has. */
export function siteRulesOf(
  pools: readonly Pick<PoolDetail, 'id' | 'siteType'>[],
  typeNames: ReadonlyMap<number, string>,
): SiteRule[] {
  return pools.flatMap(({ id, siteType }) => {
    if (siteType === undefined) return []
    return [{ poolIds: [id], type: typeNames.get(siteType) ?? `type ${siteType}` }]
  })
}
