import type { CephMap, CephPool } from './ceph-map.ts'
import type { PgColumns } from './pg-columns.ts'
import { comparePgs, pgName } from './pg-words.ts'
import type { PgTrouble } from './verdict.ts'

const shownTroubles = 5

/** The few placement groups that would be worst off, in an order that does not depend on the table's. */
export class WorstPgs {
  count = 0
  readonly #map: CephMap
  readonly #columns: PgColumns
  readonly #pgs: number[] = []
  readonly #lefts: number[] = []
  readonly #sites: (string | undefined)[] = []

  constructor(map: CephMap, columns: PgColumns) {
    this.#map = map
    this.#columns = columns
  }

  add(pg: number, left: number, lostSite?: string): void {
    this.count += 1
    let at = this.#pgs.length
    while (at > 0 && this.#isWorse(pg, left, at - 1)) at -= 1
    if (at >= shownTroubles) return
    this.#pgs.splice(at, 0, pg)
    this.#lefts.splice(at, 0, left)
    this.#sites.splice(at, 0, lostSite)
    if (this.#pgs.length > shownTroubles) {
      this.#pgs.pop()
      this.#lefts.pop()
      this.#sites.pop()
    }
  }

  troubles(): PgTrouble[] {
    return this.#pgs.map((pg, at) => {
      const lostSite = this.#sites[at]
      return {
        pg: pgName(this.#map, pg),
        pool: (this.#columns.pools.get(this.#map.pgs.poolIds[pg] as number) as CephPool).name,
        left: this.#lefts[at] as number,
        floor: this.#columns.floors[pg] as number,
        ...(lostSite !== undefined && { lostSite }),
      }
    })
  }

  #isWorse(pg: number, left: number, at: number): boolean {
    const other = this.#pgs[at] as number
    const { floors } = this.#columns
    const slack = left - (floors[pg] as number) - ((this.#lefts[at] as number) - (floors[other] as number))
    return slack !== 0 ? slack < 0 : comparePgs(this.#map, pg, other) < 0
  }
}
