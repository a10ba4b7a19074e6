import type { CephMap } from './ceph-map.ts'
import { Doubts } from './doubts.ts'
import { absent, up } from './freshness.ts'
import { doubtful, inActing, inactive, inUp, noFloor, notMoving, type PgColumns } from './pg-columns.ts'
import { comparePgs, pgName } from './pg-words.ts'
import type { PgTrouble, StopVerdict } from './verdict.ts'

const shownTroubles = 5
/** Hits on the up set are counted above those on the acting set. */
const upShift = 16

/**
 * May these OSDs stop, with all that is down already?
 *
 * Guarantees: `yes` only when every placement group that loses a member keeps its floor, in the set that serves it now and
 * in the one that it is moving to, by reports that are newer than the last change of any of its OSDs.
 * Fails closed: what is not certain is `unknown`; a placement group that is below its floor already loses nothing more.
 */
export function judgeStop(map: CephMap, columns: PgColumns, osds: Iterable<number>): StopVerdict {
  const { presence, starts, entries, hits, touched } = columns
  const doubts = new Doubts(map, columns)
  let touchedCount = 0
  for (const id of new Set(osds)) {
    const found = presence[id] ?? absent
    if (found === absent) doubts.missingOsds.push(id)
    if (found !== up) continue
    for (let at = starts[id] as number; at < (starts[id + 1] as number); at += 1) {
      const entry = entries[at] as number
      const pg = entry >> 2
      const before = hits[pg] as number
      if (before === 0) {
        touched[touchedCount] = pg
        touchedCount += 1
      }
      hits[pg] = before + (entry & inActing) + (((entry & inUp) >> 1) << upShift)
    }
  }
  const worst = new WorstPgs(map, columns)
  for (let at = 0; at < touchedCount; at += 1) {
    const pg = touched[at] as number
    const hit = hits[pg] as number
    hits[pg] = 0
    judgePg(pg, hit & 0xffff, hit >> upShift)
  }
  if (worst.count > 0) return { may: 'no', troubles: worst.troubles(), troubleCount: worst.count }
  const why = doubts.words()
  return why === undefined ? { may: 'yes' } : { may: 'unknown', why }

  function judgePg(pg: number, actingHits: number, upHits: number): void {
    const floor = columns.floors[pg] as number
    const evidence = columns.evidence[pg] as number
    if (columns.waiting[pg] === 1) doubts.addWaiting(pg)
    else if (floor === noFloor) doubts.addPool(pg)
    else if (evidence === inactive) worst.add(pg, 0)
    else {
      const left = leftOf(pg, actingHits, upHits)
      if (left < floor) worst.add(pg, left)
      else if (evidence === doubtful && actingHits > 0) doubts.addDoubtful(pg)
    }
  }

  /** Copies left in the set that serves now, or in the one that will, whichever loses more; more than any floor when neither loses. */
  function leftOf(pg: number, actingHits: number, upHits: number): number {
    const actingLeft = actingHits > 0 ? (columns.actingLeft[pg] as number) - actingHits : notMoving
    const upLeft = columns.upLeft[pg] as number
    return upHits > 0 && upLeft !== notMoving ? Math.min(actingLeft, upLeft - upHits) : actingLeft
  }
}

/** The few placement groups that would be worst off, in an order that does not depend on the table's. */
class WorstPgs {
  count = 0
  readonly #map: CephMap
  readonly #columns: PgColumns
  readonly #pgs: number[] = []
  readonly #lefts: number[] = []

  constructor(map: CephMap, columns: PgColumns) {
    this.#map = map
    this.#columns = columns
  }

  add(pg: number, left: number): void {
    this.count += 1
    let at = this.#pgs.length
    while (at > 0 && this.#isWorse(pg, left, at - 1)) at -= 1
    if (at >= shownTroubles) return
    this.#pgs.splice(at, 0, pg)
    this.#lefts.splice(at, 0, left)
    if (this.#pgs.length > shownTroubles) {
      this.#pgs.pop()
      this.#lefts.pop()
    }
  }

  troubles(): PgTrouble[] {
    return this.#pgs.map((pg, at) => ({
      pg: pgName(this.#map, pg),
      pool: this.#columns.pools.get(this.#map.pgs.poolIds[pg] as number)?.name ?? '',
      left: this.#lefts[at] as number,
      floor: this.#columns.floors[pg] as number,
    }))
  }

  #isWorse(pg: number, left: number, at: number): boolean {
    const other = this.#pgs[at] as number
    const { floors } = this.#columns
    const slack = left - (floors[pg] as number) - ((this.#lefts[at] as number) - (floors[other] as number))
    return slack !== 0 ? slack < 0 : comparePgs(this.#map, pg, other) < 0
  }
}
