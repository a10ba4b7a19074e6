import type { CephMap, PgTable } from '../../../../safety/ceph-map.ts'
import { noOsd } from '../../../../safety/ceph-map.ts'
import { known, unknown } from '../../../../shared/observed.ts'
import type { CephForUpdate, UpdatableOsd } from '../snapshot.ts'

interface TrueOsd {
  readonly id: number
  readonly pgs: number[]
  /** What really happens, whatever anybody has noticed. */
  isServing: boolean
  isPodReady: boolean
  isUpInMap: boolean
  upFrom: number
  downAt: number
  noticedAtMs: number
  /** Undefined: it does not come back by itself. */
  returnsAtMs: number | undefined
  peersAtMs: number
  wholeAtMs: number
  isDiskDead: boolean
  version: number
  startedMs: number | undefined
  leftAlone: boolean
}

interface Row {
  acting: readonly number[]
  state: string
  reported: number
  changedAtMs: number
}

export type Fate = 'soon' | 'late' | 'never'

const stateNames = [
  'active+clean',
  'active+undersized+degraded',
  'undersized+degraded+peered',
  'peering',
  'active+recovering+degraded',
  'active+recovering+undersized+degraded',
]

/**
 * A Ceph cluster whose OSDs really stop and come back, where Kubernetes, the OSD map and the placement groups' reports each learn
 * of it in their own time.
 */
export class HostileWorld {
  nowMs = 1_000_000
  wantedVersion = 1
  readonly osds: readonly TrueOsd[]
  readonly #map: CephMap
  readonly #next: () => number
  readonly #members: readonly (readonly number[])[]
  readonly #rows: Row[]
  #epoch: number

  constructor(map: CephMap, next: () => number) {
    this.#map = map
    this.#next = next
    this.#epoch = map.epoch
    const { pgs } = map
    this.#members = Array.from({ length: pgs.count }, (_, pg) => [
      ...pgs.acting.subarray(pgs.offsets[pg], pgs.offsets[pg + 1]),
    ])
    this.osds = map.osds.map(({ id }) => ({
      id,
      pgs: this.#members.flatMap((members, pg) => (members.includes(id) ? [pg] : [])),
      isServing: true,
      isPodReady: true,
      isUpInMap: true,
      upFrom: 10,
      downAt: 0,
      noticedAtMs: 0,
      returnsAtMs: undefined,
      peersAtMs: 0,
      wholeAtMs: 0,
      isDiskDead: false,
      version: 0,
      startedMs: undefined,
      leftAlone: next() < 0.03,
    }))
    this.#rows = this.#members.map((acting) => ({
      acting,
      state: 'active+clean',
      reported: map.epoch,
      changedAtMs: 0,
    }))
  }

  /** How many complete copies the placement group really has, without these OSDs. */
  copiesLeft(pg: number, without: ReadonlySet<number>): number {
    return (this.#members[pg] as readonly number[]).filter((id) => !without.has(id) && this.#isWhole(id)).length
  }

  floorOf(pg: number): number {
    const pool = this.#map.pools.find(({ id }) => id === this.#map.pgs.poolIds[pg])
    return pool?.minSize ?? Number.NaN
  }

  update(ids: readonly number[], fateOf: (id: number) => Fate, deadlineMs: number): void {
    for (const id of ids) {
      const osd = this.#osd(id)
      osd.version = this.wantedVersion
      osd.startedMs = this.nowMs
      const fate = fateOf(id)
      const takes = 5_000 + this.#next() * 60_000 + (fate === 'late' ? deadlineMs : 0)
      this.#stop(osd, fate === 'never' ? undefined : this.nowMs + takes)
    }
  }

  crash(id: number, isForGood: boolean): void {
    const osd = this.#osd(id)
    if (!osd.isServing) return
    osd.isDiskDead = isForGood
    this.#stop(osd, this.nowMs + 10_000 + this.#next() * 100_000)
  }

  advance(ms: number): void {
    const end = this.nowMs + ms
    while (this.nowMs < end) {
      this.nowMs = Math.min(end, this.nowMs + 1_000)
      for (const osd of this.osds) this.#live(osd)
      for (const [pg, row] of this.#rows.entries()) this.#report(pg, row)
    }
  }

  /** Every OSD that is out comes back now, if its disk lives. */
  healAll(): void {
    for (const osd of this.osds) if (!osd.isServing && !osd.isDiskDead) osd.returnsAtMs = this.nowMs
  }

  /** Somebody puts a good disk in. */
  repair(id: number): void {
    const osd = this.#osd(id)
    osd.isDiskDead = false
    if (!osd.isServing) osd.returnsAtMs = this.nowMs
  }

  updatable(): UpdatableOsd[] {
    return this.osds.map((osd) => ({
      id: osd.id,
      deployment: `rook-ceph-osd-${osd.id}`,
      needsUpdate: osd.version !== this.wantedVersion,
      ...(osd.leftAlone && { leftAlone: 'its Deployment has the label ceph.rook.io/do-not-reconcile' }),
      ...(osd.startedMs !== undefined && { startedMs: osd.startedMs }),
      isPodReady: osd.isPodReady,
      hasStalled: false,
    }))
  }

  ceph(): CephForUpdate {
    const isFresh = (pg: number) =>
      (this.#members[pg] as readonly number[]).every(
        (id) => Math.max(this.#osd(id).upFrom, this.#osd(id).downAt) <= (this.#rows[pg] as Row).reported,
      )
    const allFresh = this.#rows.every((_, pg) => isFresh(pg))
    const isClean = this.#rows.every(({ state }) => state === 'active+clean')
    return {
      map: this.#asMap(),
      isHealthy: true,
      isClean: allFresh ? known(isClean) : unknown('reports are older than changes'),
      peered: new Set(
        this.osds
          .filter((osd) => osd.isUpInMap && this.nowMs >= osd.peersAtMs && osd.pgs.every(isFresh))
          .map(({ id }) => id),
      ),
    }
  }

  #osd(id: number): TrueOsd {
    return this.osds[id] as TrueOsd
  }

  #isWhole(id: number): boolean {
    const osd = this.#osd(id)
    return osd.isServing && this.nowMs >= osd.wholeAtMs
  }

  #stop(osd: TrueOsd, returnsAtMs: number | undefined): void {
    osd.isServing = false
    osd.isPodReady = false
    osd.noticedAtMs = this.nowMs + this.#next() * 20_000
    osd.returnsAtMs = osd.isDiskDead ? undefined : returnsAtMs
  }

  #live(osd: TrueOsd): void {
    if (osd.isServing) {
      if (this.nowMs >= osd.peersAtMs - 2_000) osd.isPodReady = true
      return
    }
    const isReturning = osd.returnsAtMs !== undefined && this.nowMs >= osd.returnsAtMs
    if (osd.isUpInMap && (isReturning || this.nowMs >= osd.noticedAtMs)) {
      osd.isUpInMap = false
      this.#epoch += 1
      osd.downAt = this.#epoch
      this.#touch(osd)
    } else if (isReturning) {
      osd.isServing = true
      osd.isUpInMap = true
      this.#epoch += 1
      osd.upFrom = this.#epoch
      osd.peersAtMs = this.nowMs + this.#next() * 10_000
      osd.wholeAtMs = osd.peersAtMs + this.#next() * 60_000
      this.#touch(osd)
    }
  }

  #touch(osd: TrueOsd): void {
    for (const pg of osd.pgs) (this.#rows[pg] as Row).changedAtMs = this.nowMs + this.#next() * 4_000
  }

  /** A placement group tells of a change some time after it. */
  #report(pg: number, row: Row): void {
    if (this.nowMs < row.changedAtMs) return
    const members = this.#members[pg] as readonly number[]
    const up = members.filter((id) => this.#osd(id).isUpInMap)
    const pool = this.#map.pools.find(({ id }) => id === this.#map.pgs.poolIds[pg])
    const isPeering = up.some((id) => this.nowMs < this.#osd(id).peersAtMs)
    const isRecovering = up.some((id) => this.nowMs < this.#osd(id).wholeAtMs)
    const isShort = up.length < members.length
    row.acting = pool?.kind === 'erasure' ? members.map((id) => (up.includes(id) ? id : noOsd)) : up
    row.reported = this.#epoch
    row.state = isPeering
      ? 'peering'
      : up.length < this.floorOf(pg)
        ? 'undersized+degraded+peered'
        : isRecovering
          ? isShort
            ? 'active+recovering+undersized+degraded'
            : 'active+recovering+degraded'
          : isShort
            ? 'active+undersized+degraded'
            : 'active+clean'
  }

  #asMap(): CephMap {
    const { pgs } = this.#map
    const offsets = new Int32Array(pgs.count + 1)
    for (const [pg, { acting }] of this.#rows.entries()) offsets[pg + 1] = (offsets[pg] as number) + acting.length
    const acting = Int32Array.from(this.#rows.flatMap((row) => row.acting))
    const table: PgTable = {
      ...pgs,
      states: Uint16Array.from(this.#rows, ({ state }) => stateNames.indexOf(state)),
      stateNames,
      offsets,
      acting,
      upOffsets: offsets,
      up: acting,
      reportedEpochs: Int32Array.from(this.#rows, ({ reported }) => reported),
    }
    const osds = this.osds.map(({ id, isUpInMap, upFrom, downAt }) => ({
      id,
      isUp: isUpInMap,
      isIn: true,
      upFrom,
      downAt,
    }))
    return { ...this.#map, epoch: this.#epoch, osds, pgs: table }
  }
}
