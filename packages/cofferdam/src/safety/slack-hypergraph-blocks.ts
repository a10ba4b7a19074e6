import type { CephMap } from './ceph-map.ts'
import { up } from './freshness.ts'
import { newcomerWords } from './newcomers.ts'
import { type PgColumns, unseen } from './pg-columns.ts'
import { comparePgs, pgName } from './pg-words.ts'

export interface BlockedOsd {
  readonly osd: number
  readonly why: string
}

const reasons = ['waiting', 'floorless', 'inactive', 'at-floor', 'doubtful', 'last-of-site'] as const
type Why = (typeof reasons)[number]

/** Which OSDs must not stop even alone, and the placement group that says so: the first by name when there are several. */
export class StopBlocks {
  readonly #map: CephMap
  readonly #columns: PgColumns
  readonly #missing = new Set<number>()
  /** By OSD id, -1 where none stands in the way. */
  readonly #pgs: Int32Array
  readonly #whys: Uint8Array
  readonly #lefts: Int32Array
  readonly #counts: Int32Array
  /** The last one counted: a placement group adds both of its rows one after the other. */
  readonly #counted: Int32Array

  constructor(map: CephMap, columns: PgColumns) {
    const { length } = columns.presence
    this.#map = map
    this.#columns = columns
    this.#pgs = new Int32Array(length).fill(-1)
    this.#whys = new Uint8Array(length)
    this.#lefts = new Int32Array(length)
    this.#counts = new Int32Array(length)
    this.#counted = new Int32Array(length).fill(-1)
  }

  addMissing(osd: number): void {
    this.#missing.add(osd)
  }

  /** Blocks those members of the row that are up: one that is down has nothing left to lose. */
  add(
    pg: number,
    given: {
      readonly row: Int32Array
      readonly from: number
      readonly to: number
      readonly why: Why
      readonly left?: number
    },
  ): void {
    for (let at = given.from; at < given.to; at += 1) {
      const id = given.row[at] as number
      if (this.#columns.presence[id] !== up) continue
      const known = this.#pgs[id] as number
      if (this.#counted[id] === pg) continue
      this.#counted[id] = pg
      this.#counts[id] = (this.#counts[id] as number) + 1
      if (known >= 0 && comparePgs(this.#map, known, pg) <= 0) continue
      this.#pgs[id] = pg
      this.#whys[id] = reasons.indexOf(given.why)
      this.#lefts[id] = given.left ?? 0
    }
  }

  among(osds: Iterable<number>): BlockedOsd[] {
    const all = this.#everybody()
    const found: BlockedOsd[] = []
    for (const osd of osds) {
      const why = this.#missing.has(osd)
        ? `the OSD map has no osd.${osd}`
        : (all ?? this.#wordsOf(osd) ?? this.#newcomerWordsOf(osd))
      if (why !== undefined) found.push({ osd, why })
    }
    return found
  }

  /** Why nothing at all can be judged. */
  #everybody(): string | undefined {
    const { epoch } = this.#map
    const { newestReport, unseenCount, evidence } = this.#columns
    if (newestReport > epoch) return `the OSD map of epoch ${epoch} is older than a report from epoch ${newestReport}`
    if (unseenCount === 0) return undefined
    let first = evidence.indexOf(unseen)
    for (let pg = first + 1; pg < evidence.length; pg += 1) {
      if (evidence[pg] === unseen && comparePgs(this.#map, pg, first) < 0) first = pg
    }
    return `${this.#nameOf(first)} has not been reported by any OSD yet, so its OSDs are not known`
  }

  #newcomerWordsOf(osd: number): string | undefined {
    const pg = this.#columns.newcomers.awaitedFor(osd)
    return pg === undefined ? undefined : newcomerWords(this.#map, osd, pg)
  }

  #wordsOf(osd: number): string | undefined {
    const pg = this.#pgs[osd] as number
    if (pg < 0) return undefined
    const others = (this.#counts[osd] as number) - 1
    return `${this.#sentence(osd, pg)}${others > 0 ? ` (and ${others} more like it)` : ''}`
  }

  #sentence(osd: number, pg: number): string {
    const name = this.#nameOf(pg)
    switch (reasons[this.#whys[osd] as number]) {
      case 'waiting':
        return `${name} has not reported since one of its OSDs went down or came up`
      case 'floorless':
        return `how many copies ${name} must keep is not known`
      case 'inactive':
        return `${name} is not active and must not lose more`
      case 'doubtful':
        return `a copy of ${name} may lack objects`
      case 'last-of-site':
        return `${name} has its last copy of a site there`
      default:
        return `${name} has ${this.#lefts[osd]} whole copies up and must keep ${this.#columns.floors[pg]}`
    }
  }

  #nameOf(pg: number): string {
    const id = this.#map.pgs.poolIds[pg] as number
    return `placement group ${pgName(this.#map, pg)} of pool ${this.#columns.pools.get(id)?.name ?? `number ${id}`}`
  }
}
