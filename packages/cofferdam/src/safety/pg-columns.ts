import { type CephMap, type CephPool, noOsd } from './ceph-map.ts'
import { isWaiting, lastChanges, newestReport, type OsdPresence, osdPresence, up } from './freshness.ts'
import { Newcomers } from './newcomers.ts'
import { type PgEvidence, pgEvidenceOf } from './pg-evidence.ts'
import { type PoolSites, poolSitesOf, upBySite } from './pool-sites.ts'

export const complete = 0
export const moving = 1
export const doubtful = 2
export const inactive = 3
export const unseen = 4
const codeOf: Readonly<Record<PgEvidence, number>> = { complete, moving, doubtful, inactive, unseen }

/** In `floors`, where the pool is not known or its min_size is none. */
export const noFloor = -1

const mostSlack = 0xff

/** Everything about the placement groups that a question needs, by PG number and by OSD id. */
export interface PgColumns {
  readonly presence: OsdPresence
  readonly changes: Int32Array
  readonly evidence: Uint8Array
  /** 1 where the row is older than a change of one of its OSDs. */
  readonly waiting: Uint8Array
  readonly floors: Int32Array
  /** How many of its OSDs a PG can lose without a second check; 0 where it needs one anyway. */
  readonly slack: Uint8Array
  /**
   * The PGs of OSD n are `entries[starts[n] .. starts[n + 1])`: those that it is an acting member of and, where the PG needs
   * a second check anyway, those that it is meant to be a member of.
   */
  readonly starts: Int32Array
  readonly entries: Int32Array
  readonly unseenCount: number
  readonly newestReport: number
  readonly newcomers: Newcomers
  readonly pools: ReadonlyMap<number, CephPool>
  /** By pool, of those that must keep a copy on each site. */
  readonly sites: ReadonlyMap<number, readonly PoolSites[]>
  /** For one question at a time, all zero in between. */
  readonly hits: Uint16Array
}

export function buildPgColumns(map: CephMap, reserve: number): PgColumns {
  const { pgs } = map
  const floorOf = new Map(map.pools.map((pool) => [pool.id, floorOfPool(pool, reserve)]))
  const evidenceOf = Uint8Array.from(pgs.stateNames, (state) => codeOf[pgEvidenceOf(state)])
  const presence = osdPresence(map.osds)
  const sites = poolSitesOf(map, map.sites ?? [])
  const changes = lastChanges(map.osds)
  const evidence = new Uint8Array(pgs.count)
  const waiting = new Uint8Array(pgs.count)
  const floors = new Int32Array(pgs.count)
  const slack = new Uint8Array(pgs.count)
  const starts = new Int32Array(presence.length + 1)
  const members = new Int32Array(pgs.acting.length + pgs.up.length)
  const memberEnds = new Int32Array(pgs.count)
  let begin = 0
  let end = 0
  let unseenCount = 0
  for (let pg = 0; pg < pgs.count; pg += 1) {
    begin = end
    addMembers(pgs.acting, pgs.offsets[pg] as number, pgs.offsets[pg + 1] as number)
    const claimed = evidenceOf[pgs.states[pg] as number] ?? unseen
    evidence[pg] = end === begin && claimed !== inactive ? unseen : claimed
    if (evidence[pg] === unseen) unseenCount += 1
    if (isWaiting(map, pg, changes)) waiting[pg] = 1
    floors[pg] = floorOf.get(pgs.poolIds[pg] as number) ?? noFloor
    if (waiting[pg] === 0 && evidence[pg] === complete && floors[pg] !== noFloor) {
      let left = 0
      for (let at = begin; at < end; at += 1) if (presence[members[at] as number] === up) left += 1
      slack[pg] = Math.min(Math.max(left - (floors[pg] as number), 0), spareOnSites(pg), mostSlack)
    } else {
      addMembers(pgs.up, pgs.upOffsets[pg] as number, pgs.upOffsets[pg + 1] as number)
    }
    memberEnds[pg] = end
    for (let at = begin; at < end; at += 1) {
      const id = members[at] as number
      if (id < presence.length) starts[id + 1] = (starts[id + 1] as number) + 1
    }
  }
  for (let id = 0; id < presence.length; id += 1) starts[id + 1] = (starts[id + 1] as number) + (starts[id] as number)
  const entries = new Int32Array(starts[presence.length] as number)
  const next = starts.slice()
  for (let pg = 0, at = 0; pg < pgs.count; pg += 1) {
    for (; at < (memberEnds[pg] as number); at += 1) {
      const id = members[at] as number
      if (id >= presence.length) continue
      entries[next[id] as number] = pg
      next[id] = (next[id] as number) + 1
    }
  }
  return {
    presence,
    changes,
    evidence,
    waiting,
    floors,
    slack,
    starts,
    entries,
    unseenCount,
    newestReport: newestReport(map),
    newcomers: new Newcomers(map, presence),
    pools: new Map(map.pools.map((pool) => [pool.id, pool])),
    sites,
    hits: new Uint16Array(pgs.count),
  }

  /** How many can go, wherever they are, without a site losing its last copy. */
  function spareOnSites(pg: number): number {
    let spare = mostSlack
    for (const rule of sites.get(pgs.poolIds[pg] as number) ?? []) {
      const row = pgs.acting.subarray(pgs.offsets[pg], pgs.offsets[pg + 1])
      for (const { length } of upBySite(row, presence, rule).values()) spare = Math.min(spare, length - 1)
    }
    return spare
  }

  /** Adds to the members of the PG at hand those of a row that are not there yet. */
  function addMembers(row: Int32Array, from: number, to: number): void {
    for (let at = from; at < to; at += 1) {
      const id = row[at] as number
      let found = begin
      while (found < end && members[found] !== id) found += 1
      if (found < end || id < 0 || id === noOsd) continue
      members[end] = id
      end += 1
    }
  }
}

/** The same columns as if that OSD alone were up or down; its PGs get a second check whenever they are touched. */
export function withPresence(columns: PgColumns, id: number, presence: number): PgColumns {
  const slack = columns.slack.slice()
  for (const pg of pgsOf(columns, id)) slack[pg] = 0
  const after = columns.presence.with(id, presence)
  return { ...columns, slack, presence: after, newcomers: columns.newcomers.withPresence(after) }
}

export function pgsOf({ starts, entries }: PgColumns, id: number): Int32Array {
  return entries.subarray(starts[id], starts[id + 1])
}

/** Fails closed: a floor that is no whole number of at least one copy is none. */
function floorOfPool({ minSize }: CephPool, reserve: number): number {
  const isUsable = Number.isInteger(minSize) && minSize >= 1 && Number.isInteger(reserve) && reserve >= 0
  return isUsable ? minSize + reserve : noFloor
}
