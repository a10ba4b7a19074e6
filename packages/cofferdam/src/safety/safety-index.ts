import type { CephMap, CephOsd } from './ceph-map.ts'
import { domainsOf } from './failure-domain.ts'
import { absent, down, up } from './freshness.ts'
import { buildPgColumns, type PgColumns, pgsOf, withPresence } from './pg-columns.ts'
import { findSuspects, judgeStop } from './stop-verdict.ts'
import type { DomainVerdict, StopVerdict } from './verdict.ts'

/** One map of Ceph, made ready to be asked many times what may stop. */
export interface SafetyIndex {
  readonly map: CephMap
  /** May these OSDs be down together, with all that is down already? */
  mayStop(osds: readonly number[]): StopVerdict
  /** For each bucket of the type that has OSDs, in the order of their names: may it be down as a whole? */
  domainVerdicts(type: string): DomainVerdict[]
  mayStopDomains(type: string, domains: readonly string[]): StopVerdict
  /** The same map as if this OSD alone were up or down: nothing else is taken to have changed, no epoch either. */
  withOsd(change: { id: number; isUp: boolean }): SafetyIndex
}

/** `reserve`: how many copies beyond its pool's min_size each placement group must keep. */
export function buildSafetyIndex(map: CephMap, options: { readonly reserve?: number } = {}): SafetyIndex {
  return new PgSafetyIndex(map, buildPgColumns(map, options.reserve ?? 0), new Map())
}

interface Domain {
  readonly domain: string
  readonly osds: readonly number[]
  /** All placement groups that can matter to its verdict; undefined until it is first asked for. */
  readonly suspects: readonly number[] | undefined
  /** Undefined until asked for, and again when an OSD's change may have altered it. */
  readonly verdict: StopVerdict | undefined
}

class PgSafetyIndex implements SafetyIndex {
  readonly map: CephMap
  readonly #columns: PgColumns
  readonly #domains: Map<string, readonly Domain[]>

  constructor(map: CephMap, columns: PgColumns, domains: Map<string, readonly Domain[]>) {
    this.map = map
    this.#columns = columns
    this.#domains = domains
  }

  mayStop(osds: readonly number[]): StopVerdict {
    return this.#judge(osds, findSuspects(this.#columns, osds))
  }

  domainVerdicts(type: string): DomainVerdict[] {
    const judged = this.#domainsOf(type).map((known) => {
      const { domain, osds, suspects = findSuspects(this.#columns, osds) } = known
      return { domain, osds, suspects, verdict: known.verdict ?? this.#judge(osds, suspects) }
    })
    this.#domains.set(type, judged)
    return judged.map(({ domain, osds, verdict }) => ({ domain, osds, verdict }))
  }

  mayStopDomains(type: string, domains: readonly string[]): StopVerdict {
    const osdsOf = new Map(this.#domainsOf(type).map(({ domain, osds }) => [domain, osds]))
    const verdict = this.mayStop(domains.flatMap((domain) => osdsOf.get(domain) ?? []))
    const missing = domains.filter((domain) => !osdsOf.has(domain))
    if (verdict.may === 'no' || missing.length === 0) return verdict
    return { may: 'unknown', why: `CRUSH has no ${type} with OSDs called ${[...new Set(missing)].sort().join(', ')}` }
  }

  withOsd({ id, isUp }: { id: number; isUp: boolean }): SafetyIndex {
    const before = this.#columns.presence[id] ?? absent
    const after = isUp ? up : down
    if (before === absent || before === after) return this
    const { osds } = this.map
    const at = osds.findIndex((osd) => osd.id === id)
    const map = { ...this.map, osds: osds.with(at, { ...(osds[at] as CephOsd), isUp }) }
    const touched = this.#pgsByMember(id)
    const { newcomers } = this.#columns
    const domains = [...this.#domains].map(([type, list]) => [type, list.map(refreshed)] as const)
    return new PgSafetyIndex(map, withPresence(this.#columns, id, after), new Map(domains))

    function refreshed(known: Domain): Domain {
      const affected = known.osds.flatMap((osd) => touched.get(osd) ?? [])
      if (affected.length === 0) {
        // A placement group that others have made short may be one that an OSD of this domain has just come back to.
        return known.osds.some((osd) => newcomers.mayMatter(osd)) ? { ...known, verdict: undefined } : known
      }
      const suspects = known.suspects && [...new Set([...known.suspects, ...affected])]
      return { ...known, suspects, verdict: undefined }
    }
  }

  #judge(osds: readonly number[], suspects: readonly number[]): StopVerdict {
    return judgeStop({ map: this.map, columns: this.#columns, osds, suspects })
  }

  #domainsOf(type: string): readonly Domain[] {
    const cached = this.#domains.get(type)
    if (cached !== undefined) return cached
    const { osdsByDomain } = domainsOf(this.map, type)
    const domains = [...osdsByDomain].map(
      ([domain, osds]): Domain => ({ domain, osds, suspects: undefined, verdict: undefined }),
    )
    this.#domains.set(type, domains)
    return domains
  }

  /** The placement groups of one OSD, by each of their members. */
  #pgsByMember(id: number): Map<number, number[]> {
    const { pgs } = this.map
    const found = new Map<number, number[]>()
    for (const pg of pgsOf(this.#columns, id)) {
      const acting = pgs.acting.subarray(pgs.offsets[pg], pgs.offsets[pg + 1])
      const next = pgs.up.subarray(pgs.upOffsets[pg], pgs.upOffsets[pg + 1])
      for (const member of new Set([...acting, ...next])) {
        const list = found.get(member)
        if (list === undefined) found.set(member, [pg])
        else list.push(pg)
      }
    }
    return found
  }
}
