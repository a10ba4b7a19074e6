import type { CephMap, SiteRule } from './ceph-map.ts'
import { domainsOf } from './failure-domain.ts'
import { type OsdPresence, up } from './freshness.ts'

/** Where the copies of a pool are that is stretched over sites. */
export interface PoolSites {
  /** `datacenter`, `zone` ... */
  readonly type: string
  readonly siteOf: ReadonlyMap<number, string>
}

/** By pool, in the order of the rules; pools that are not stretched are left out. */
export function poolSitesOf(map: CephMap, rules: readonly SiteRule[]): ReadonlyMap<number, readonly PoolSites[]> {
  const found = new Map<number, readonly PoolSites[]>()
  for (const { poolIds, type } of rules) {
    const siteOf = new Map<number, string>()
    for (const [site, osds] of domainsOf(map, type).osdsByDomain) {
      for (const id of osds) if (!siteOf.has(id)) siteOf.set(id, site)
    }
    for (const id of new Set(poolIds)) found.set(id, [...(found.get(id) ?? []), { type, siteOf }])
  }
  return found
}

/** The different members of the row that are up, by site; those that are in none share one without a name. */
export function upBySite(row: Int32Array, presence: OsdPresence, { siteOf }: PoolSites): Map<string, number[]> {
  const bySite = new Map<string, number[]>()
  for (const id of new Set(row)) {
    if (presence[id] !== up) continue
    const site = siteOf.get(id) ?? ''
    const members = bySite.get(site)
    if (members === undefined) bySite.set(site, [id])
    else members.push(id)
  }
  return bySite
}

/** The site that has copies and would have none, in words, the first by name when there are several. */
export function siteLost(given: {
  readonly row: Int32Array
  readonly presence: OsdPresence
  readonly leaving: ReadonlySet<number>
  readonly sites: readonly PoolSites[]
}): string | undefined {
  for (const sites of given.sites) {
    const lost: string[] = []
    for (const [site, members] of upBySite(given.row, given.presence, sites)) {
      if (members.every((id) => given.leaving.has(id))) lost.push(site)
    }
    const [first] = lost.sort()
    if (first !== undefined) return first === '' ? `what is outside every ${sites.type}` : `${sites.type} ${first}`
  }
  return undefined
}
