import { type CephMap, type CephPool, noOsd } from './ceph-map.ts'
import { isWaiting, lastChanges, newestReport, type OsdPresence, osdPresence, up } from './freshness.ts'
import { type PgEvidence, pgEvidenceOf } from './pg-evidence.ts'

export const complete = 0
export const moving = 1
export const doubtful = 2
export const inactive = 3
export const unseen = 4
const codeOf: Readonly<Record<PgEvidence, number>> = { complete, moving, doubtful, inactive, unseen }

/** In the two lowest bits of an entry: the OSD is in the acting set, in the up set, or in both. */
export const inActing = 1
export const inUp = 2

/** In `floors`, where the pool is not known or its min_size is none. */
export const noFloor = -1

/** Everything about the placement groups that a question needs, by PG number and by OSD id. */
export interface PgColumns {
  readonly presence: OsdPresence
  readonly changes: Int32Array
  readonly evidence: Uint8Array
  /** 1 where the row is older than a change of one of its OSDs. */
  readonly waiting: Uint8Array
  readonly floors: Int32Array
  /** How many different acting OSDs are up. */
  readonly actingLeft: Uint16Array
  /** For a PG that moves into a full set: how many different OSDs of that set are up. Otherwise more than any floor. */
  readonly upLeft: Uint16Array
  /** The PGs of OSD n are `entries[starts[n] .. starts[n + 1])`, each as `pg << 2 | inActing | inUp`. */
  readonly starts: Int32Array
  readonly entries: Int32Array
  readonly unseenCount: number
  readonly newestReport: number
  readonly pools: ReadonlyMap<number, CephPool>
  /** For one question at a time, all zero in between. */
  readonly hits: Uint32Array
  readonly touched: Int32Array
}

export const notMoving = 0xffff

export function buildPgColumns(map: CephMap, reserve: number): PgColumns {
  const { pgs } = map
  const pools = new Map(map.pools.map((pool) => [pool.id, pool]))
  const floorOf = new Map(map.pools.map((pool) => [pool.id, floorOfPool(pool, reserve)]))
  const evidenceOf = Uint8Array.from(pgs.stateNames, (state) => codeOf[pgEvidenceOf(state)])
  const presence = osdPresence(map.osds)
  const changes = lastChanges(map.osds)
  const evidence = new Uint8Array(pgs.count)
  const waiting = new Uint8Array(pgs.count)
  const floors = new Int32Array(pgs.count)
  const actingLeft = new Uint16Array(pgs.count)
  const upLeft = new Uint16Array(pgs.count)
  const starts = new Int32Array(presence.length + 1)
  const ids: number[] = []
  const bits: number[] = []
  const readMembers = memberReader(map, ids, bits)
  let unseenCount = 0
  for (let pg = 0; pg < pgs.count; pg += 1) {
    readMembers(pg)
    const poolId = pgs.poolIds[pg] as number
    floors[pg] = floorOf.get(poolId) ?? noFloor
    let acting = 0
    let actingUp = 0
    let target = 0
    let targetUp = 0
    for (let at = 0; at < ids.length; at += 1) {
      const id = ids[at] as number
      const isUp = presence[id] === up
      if ((bits[at] as number) & inActing) {
        acting += 1
        if (isUp) actingUp += 1
      }
      if ((bits[at] as number) & inUp) {
        target += 1
        if (isUp) targetUp += 1
      }
      if (id < presence.length) starts[id + 1] = (starts[id + 1] as number) + 1
    }
    const claimed = evidenceOf[pgs.states[pg] as number] ?? unseen
    const code = acting === 0 && claimed !== inactive ? unseen : claimed
    evidence[pg] = code
    if (code === unseen) unseenCount += 1
    if (isWaiting(map, pg, changes)) waiting[pg] = 1
    actingLeft[pg] = actingUp
    upLeft[pg] = code === moving && target >= (pools.get(poolId)?.size ?? 0) ? targetUp : notMoving
  }
  for (let id = 0; id < presence.length; id += 1) starts[id + 1] = (starts[id + 1] as number) + (starts[id] as number)
  const entries = new Int32Array(starts[presence.length] as number)
  const next = starts.slice()
  for (let pg = 0; pg < pgs.count; pg += 1) {
    readMembers(pg)
    for (let at = 0; at < ids.length; at += 1) {
      const id = ids[at] as number
      if (id >= presence.length) continue
      entries[next[id] as number] = (pg << 2) | (bits[at] as number)
      next[id] = (next[id] as number) + 1
    }
  }
  return {
    presence,
    changes,
    evidence,
    waiting,
    floors,
    actingLeft,
    upLeft,
    starts,
    entries,
    unseenCount,
    newestReport: newestReport(map),
    pools,
    hits: new Uint32Array(pgs.count),
    touched: new Int32Array(pgs.count),
  }
}

/** Fails closed: a floor that is no whole number of at least one copy is none. */
function floorOfPool({ minSize }: CephPool, reserve: number): number {
  const isUsable = Number.isInteger(minSize) && minSize >= 1 && Number.isInteger(reserve) && reserve >= 0
  return isUsable ? minSize + reserve : noFloor
}

/** Returns a function that puts the different OSDs of one PG into `ids`, and into `bits` where each one stands. */
function memberReader({ pgs }: CephMap, ids: number[], bits: number[]): (pg: number) => void {
  const note = (id: number, bit: number) => {
    if (id < 0 || id === noOsd) return
    const at = ids.indexOf(id)
    if (at >= 0) bits[at] = (bits[at] as number) | bit
    else {
      ids.push(id)
      bits.push(bit)
    }
  }
  return (pg) => {
    ids.length = 0
    bits.length = 0
    for (let at = pgs.offsets[pg] as number; at < (pgs.offsets[pg + 1] as number); at += 1) {
      note(pgs.acting[at] as number, inActing)
    }
    for (let at = pgs.upOffsets[pg] as number; at < (pgs.upOffsets[pg + 1] as number); at += 1) {
      note(pgs.up[at] as number, inUp)
    }
  }
}
