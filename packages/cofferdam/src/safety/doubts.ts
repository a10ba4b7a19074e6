import type { CephMap, CephPool } from './ceph-map.ts'
import { newcomerWords } from './newcomers.ts'
import type { PgColumns } from './pg-columns.ts'
import { comparePgs, listed, pgName, placementGroupsHave } from './pg-words.ts'
import type { PgDoubt } from './verdict.ts'

const shownDoubts = 5

/** Everything that keeps a `yes` from being certain. */
export class Doubts {
  readonly missingOsds: number[] = []
  readonly #map: CephMap
  readonly #columns: PgColumns
  readonly #changedOsds = new Set<number>()
  #waiting = 0
  readonly #poolless: number[] = []
  readonly #doubtful: number[] = []
  readonly #lasting: number[] = []
  readonly #newcomers: { readonly osd: number; readonly pg: number }[] = []

  constructor(map: CephMap, columns: PgColumns) {
    this.#map = map
    this.#columns = columns
  }

  addWaiting(pg: number): void {
    const { pgs } = this.#map
    this.#waiting += 1
    const reported = pgs.reportedEpochs[pg] as number
    const note = (members: Int32Array, from: number, to: number) => {
      for (let at = from; at < to; at += 1) {
        const id = members[at] as number
        if ((this.#columns.changes[id] ?? 0) > reported) this.#changedOsds.add(id)
      }
    }
    note(pgs.acting, pgs.offsets[pg] as number, pgs.offsets[pg + 1] as number)
    note(pgs.up, pgs.upOffsets[pg] as number, pgs.upOffsets[pg + 1] as number)
  }

  addPool(pg: number): void {
    this.#poolless.push(pg)
  }

  addDoubtful(pg: number): void {
    this.#doubtful.push(pg)
  }

  /** Not part of the text: it is no lack of knowledge, and holds only what it touches. */
  addLasting(pg: number): void {
    this.#lasting.push(pg)
  }

  get lastingCount(): number {
    return this.#lasting.length
  }

  lasting(): PgDoubt[] {
    const { pgs } = this.#map
    const first = this.#lasting.sort((a, b) => comparePgs(this.#map, a, b)).slice(0, shownDoubts)
    return first.map((pg) => ({
      pg: pgName(this.#map, pg),
      pool: (this.#columns.pools.get(pgs.poolIds[pg] as number) as CephPool).name,
      state: pgs.stateNames[pgs.states[pg] as number] as string,
    }))
  }

  addNewcomer(osd: number, pg: number): void {
    this.#newcomers.push({ osd, pg })
  }

  words(): string | undefined {
    const { unseenCount, newestReport } = this.#columns
    const { epoch, osds } = this.#map
    const words: string[] = []
    if (newestReport > epoch) {
      words.push(`the OSD map of epoch ${epoch} is older than a report from epoch ${newestReport}`)
    }
    if (unseenCount > 0) words.push(`${placementGroupsHave(unseenCount)} not been reported by any OSD yet`)
    if (this.missingOsds.length > 0)
      words.push(`the OSD map has no ${listed(this.missingOsds.sort((a, b) => a - b).map((id) => `osd.${id}`))}`)
    if (this.#waiting > 0) {
      const newest = [...this.#changedOsds].sort((a, b) => this.#changeOf(b) - this.#changeOf(a) || a - b)
      const change = osds.find(({ id }) => id === newest[0])
      const wentDown = change !== undefined && change.downAt > change.upFrom
      const others = newest.length > 1 ? ` (and ${newest.length - 1} more changed)` : ''
      words.push(
        `osd.${newest[0]} ${wentDown ? 'went down' : 'came up'} in epoch ${this.#changeOf(newest[0] as number)}${others}, ` +
          `${placementGroupsHave(this.#waiting)} not reported since`,
      )
    }
    const [newcomer] = this.#newcomers.sort((a, b) => a.osd - b.osd)
    if (newcomer !== undefined && unseenCount === 0) {
      const others = this.#newcomers.length > 1 ? ` (and ${this.#newcomers.length - 1} more OSDs)` : ''
      words.push(`${newcomerWords(this.#map, newcomer.osd, newcomer.pg)}${others}`)
    }
    if (this.#poolless.length > 0) {
      const ids = new Set(this.#poolless.map((pg) => this.#map.pgs.poolIds[pg] as number))
      const names = [...ids].sort((a, b) => a - b).map((id) => this.#columns.pools.get(id)?.name ?? `number ${id}`)
      words.push(`how many copies ${names.length === 1 ? 'pool' : 'pools'} ${listed(names)} must keep is not known`)
    }
    if (this.#doubtful.length > 0) {
      const names = this.#doubtful.sort((a, b) => comparePgs(this.#map, a, b)).map((pg) => pgName(this.#map, pg))
      const { length } = this.#doubtful
      words.push(
        `${length === 1 ? 'a copy' : 'copies'} of ${length} placement ${length === 1 ? 'group' : 'groups'} may lack objects ` +
          `(${listed(names)})`,
      )
    }
    return words.length === 0 ? undefined : words.join('; ')
  }

  #changeOf(osd: number): number {
    return this.#columns.changes[osd] as number
  }
}
