import type { CephMap } from './ceph-map.ts'
import { domainsOf } from './failure-domain.ts'
import { absent, down, up } from './freshness.ts'
import { buildPgColumns, inActing, inUp, notMoving, type PgColumns } from './pg-columns.ts'
import { judgeStop } from './stop-verdict.ts'
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
    return judgeStop(this.map, this.#columns, osds)
  }

  domainVerdicts(type: string): DomainVerdict[] {
    const judged = this.#domainsOf(type).map(({ domain, osds, verdict }) => ({
      domain,
      osds,
      verdict: verdict ?? this.mayStop(osds),
    }))
    this.#domains.set(type, judged)
    return judged.slice()
  }

  mayStopDomains(type: string, domains: readonly string[]): StopVerdict {
    const osdsOf = new Map(this.#domainsOf(type).map(({ domain, osds }) => [domain, osds]))
    const verdict = this.mayStop(domains.flatMap((domain) => osdsOf.get(domain) ?? []))
    const missing = domains.filter((domain) => !osdsOf.has(domain))
    if (verdict.may === 'no' || missing.length === 0) return verdict
    return { may: 'unknown', why: `CRUSH has no ${type} with OSDs called ${[...new Set(missing)].sort().join(', ')}` }
  }

  withOsd({ id, isUp }: { id: number; isUp: boolean }): SafetyIndex {
    const { presence, starts, entries } = this.#columns
    const before = presence[id] ?? absent
    const after = isUp ? up : down
    if (before === absent || before === after) return this
    const step = isUp ? 1 : -1
    const actingLeft = this.#columns.actingLeft.slice()
    const upLeft = this.#columns.upLeft.slice()
    const affected = new Uint8Array(presence.length)
    affected[id] = 1
    for (let at = starts[id] as number; at < (starts[id + 1] as number); at += 1) {
      const entry = entries[at] as number
      const pg = entry >> 2
      if (entry & inActing) actingLeft[pg] = (actingLeft[pg] as number) + step
      if (entry & inUp && upLeft[pg] !== notMoving) upLeft[pg] = (upLeft[pg] as number) + step
      this.#markMembers(pg, affected)
    }
    const map = { ...this.map, osds: this.map.osds.map((osd) => (osd.id === id ? { ...osd, isUp } : osd)) }
    const columns = { ...this.#columns, presence: presence.with(id, after), actingLeft, upLeft }
    const domains = [...this.#domains].map(
      ([type, list]) =>
        [
          type,
          list.map((entry) =>
            entry.osds.some((osd) => affected[osd] === 1) ? { ...entry, verdict: undefined } : entry,
          ),
        ] as const,
    )
    return new PgSafetyIndex(map, columns, new Map(domains))
  }

  #domainsOf(type: string): readonly Domain[] {
    const cached = this.#domains.get(type)
    if (cached !== undefined) return cached
    const { osdsByDomain } = domainsOf(this.map, type)
    const domains = [...osdsByDomain].map(([domain, osds]) => ({ domain, osds, verdict: undefined }))
    this.#domains.set(type, domains)
    return domains
  }

  #markMembers(pg: number, marks: Uint8Array): void {
    const { pgs } = this.map
    for (let at = pgs.offsets[pg] as number; at < (pgs.offsets[pg + 1] as number); at += 1) {
      marks[pgs.acting[at] as number] = 1
    }
    for (let at = pgs.upOffsets[pg] as number; at < (pgs.upOffsets[pg + 1] as number); at += 1) {
      marks[pgs.up[at] as number] = 1
    }
  }
}
