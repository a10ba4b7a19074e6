import type { CephMap } from './ceph-map.ts'
import { type OsdPresence, osdPresence, up } from './freshness.ts'
import { comparePgs, pgName } from './pg-words.ts'

/**
 * OSDs that came up after the last report of a placement group that is short of copies. It may be theirs: they are in none of its
 * rows yet, so nothing else would keep them from being stopped again just as they bring a copy back.
 */
export class Newcomers {
  readonly #map: CephMap
  readonly #presence: OsdPresence
  readonly #upFrom: ReadonlyMap<number, number>
  readonly #oldestReport: number
  /** Undefined until it is needed: most of the time nobody has just come up. */
  #awaited: { readonly pg: number | undefined } | undefined

  constructor(map: CephMap, presence: OsdPresence, before?: Newcomers) {
    this.#map = map
    this.#presence = presence
    this.#upFrom = before === undefined ? new Map(map.osds.map(({ id, upFrom }) => [id, upFrom])) : before.#upFrom
    this.#oldestReport = before === undefined ? oldestReport(map) : before.#oldestReport
  }

  /** The same OSDs, when others are up. */
  withPresence(presence: OsdPresence): Newcomers {
    return new Newcomers(this.#map, presence, this)
  }

  /** Whether it came up so lately that the answer depends on who else is up. */
  mayMatter(osd: number): boolean {
    return (this.#upFrom.get(osd) ?? 0) > this.#oldestReport
  }

  /** The placement group that has to report before the OSD can be judged; undefined when none has to. */
  awaitedFor(osd: number): number | undefined {
    if (this.#presence[osd] !== up || !this.mayMatter(osd)) return undefined
    this.#awaited ??= { pg: this.#longestSilent() }
    const { pg } = this.#awaited
    if (pg === undefined) return undefined
    return (this.#upFrom.get(osd) as number) > (this.#map.pgs.reportedEpochs[pg] as number) ? pg : undefined
  }

  #longestSilent(): number | undefined {
    const { pgs, pools } = this.#map
    const sizes = new Map(pools.map(({ id, size }) => [id, size]))
    let found: number | undefined
    for (let pg = 0; pg < pgs.count; pg += 1) {
      const later =
        found === undefined ? -1 : (pgs.reportedEpochs[pg] as number) - (pgs.reportedEpochs[found] as number)
      if (later > 0 || (later === 0 && comparePgs(this.#map, pg, found as number) > 0)) continue
      if (this.#copiesOf(pg) < (sizes.get(pgs.poolIds[pg] as number) ?? Number.POSITIVE_INFINITY)) found = pg
    }
    return found
  }

  #copiesOf(pg: number): number {
    const { pgs } = this.#map
    let copies = 0
    for (let at = pgs.offsets[pg] as number; at < (pgs.offsets[pg + 1] as number); at += 1) {
      if (this.#presence[pgs.acting[at] as number] === up) copies += 1
    }
    return copies
  }
}

/** The OSDs that must wait for such a report, and for which. */
export function unheardNewcomers(
  map: CephMap,
  osds: readonly number[],
): { readonly osd: number; readonly why: string }[] {
  const newcomers = new Newcomers(map, osdPresence(map.osds))
  return osds.flatMap((osd) => {
    const pg = newcomers.awaitedFor(osd)
    return pg === undefined ? [] : [{ osd, why: newcomerWords(map, osd, pg) }]
  })
}

export function newcomerWords(map: CephMap, osd: number, pg: number): string {
  return `placement group ${pgName(map, pg)} is short of copies and has not reported since osd.${osd} came up`
}

function oldestReport({ pgs }: CephMap): number {
  let oldest = Number.POSITIVE_INFINITY
  for (let pg = 0; pg < pgs.count; pg += 1) oldest = Math.min(oldest, pgs.reportedEpochs[pg] as number)
  return oldest
}
