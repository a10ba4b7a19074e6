import { type CephMap, type CephPool, noOsd, type SiteRule } from './ceph-map.ts'
import { absent, up } from './freshness.ts'
import { buildPgColumns, complete, doubtful, inactive, moving, noFloor, type PgColumns, unseen } from './pg-columns.ts'
import { type PoolSites, poolSitesOf, upBySite } from './pool-sites.ts'
import { type BlockedOsd, StopBlocks } from './slack-hypergraph-blocks.ts'

/**
 * What may stop together, as numbers: units are OSDs, and an edge says that of its members at most `slack` may be down at
 * once. A set of units is safe when it breaks no edge, so every part of a safe set is safe.
 *
 * The members of edge e are `edgeMembers[edgeStarts[e] .. edgeStarts[e + 1])`, the edges of unit u are
 * `unitEdges[unitStarts[u] .. unitStarts[u + 1])`. Edges that can never be broken are left out.
 */
export interface SlackHypergraph {
  /** By unit, ascending. An OSD that is down is a unit without edges: whatever it had is lost already. */
  readonly osds: Int32Array
  /** By unit: 1 where the OSD is down already. */
  readonly isDown: Uint8Array
  readonly edgeStarts: Int32Array
  readonly edgeMembers: Int32Array
  /** At least 1. */
  readonly slack: Uint8Array
  readonly unitStarts: Int32Array
  readonly unitEdges: Int32Array
  /** Which must not stop now, even alone, ascending. They are no units. */
  readonly blocked: readonly BlockedOsd[]
}

const mostSlack = 0xff

/**
 * Guarantees: a set of units is safe here exactly when the safety index of the same map, site rules and reserve says that it
 * may stop; `blocked` are exactly the targets that it would not let stop alone.
 * Fails closed: what cannot be judged blocks its members, a placement group that nobody has reported blocks everybody.
 */
export function buildSlackHypergraph(input: {
  readonly map: CephMap
  readonly targets: Iterable<number>
  readonly reserve?: number
  readonly sites?: readonly SiteRule[]
}): SlackHypergraph {
  const { map } = input
  const columns = buildPgColumns(map, input.reserve ?? 0)
  const targets = [...new Set(input.targets)].sort((a, b) => a - b)
  const blocks = new StopBlocks(map, columns)
  for (const id of targets) if ((columns.presence[id] ?? absent) === absent) blocks.addMissing(id)
  const rows = judgeRows(map, columns, blocks)
  const sites = judgeSites(map, columns, { rules: input.sites ?? [], rows, blocks })
  const blocked = blocks.among(targets)
  const isBlocked = new Set(blocked.map(({ osd }) => osd))
  const osds = Int32Array.from(targets.filter((id) => !isBlocked.has(id)))
  return { ...joinRows({ map, columns, osds, rows, sites }), blocked }
}

/** By PG: how many of the up members of the row may stop; 0 where the row sets no limit or where its members are blocked. */
interface RowSlack {
  readonly serving: Uint8Array
  /** For the set that a backfill may put in place of the acting one. */
  readonly coming: Uint8Array
}

interface SiteEdge {
  readonly members: readonly number[]
  readonly slack: number
}

function judgeRows({ pgs }: CephMap, columns: PgColumns, blocks: StopBlocks): RowSlack {
  const { presence, floors, evidence, waiting } = columns
  const serving = new Uint8Array(pgs.count)
  const coming = new Uint8Array(pgs.count)
  for (let pg = 0; pg < pgs.count; pg += 1) {
    const [from, to] = [pgs.offsets[pg] as number, pgs.offsets[pg + 1] as number]
    const [upFrom, upTo] = [pgs.upOffsets[pg] as number, pgs.upOffsets[pg + 1] as number]
    const floor = floors[pg] as number
    const seen = evidence[pg]
    if (seen === unseen) continue
    if (waiting[pg] === 1 || floor === noFloor || seen === inactive) {
      const why = waiting[pg] === 1 ? 'waiting' : floor === noFloor ? 'floorless' : 'inactive'
      blocks.add(pg, { row: pgs.acting, from, to, why })
      blocks.add(pg, { row: pgs.up, from: upFrom, to: upTo, why })
      continue
    }
    const spare = upMembers(pgs.acting, from, to, presence) - floor
    if (spare <= 0) blocks.add(pg, { row: pgs.acting, from, to, why: 'at-floor', left: spare + floor })
    else if (seen === doubtful) blocks.add(pg, { row: pgs.acting, from, to, why: 'doubtful' })
    else serving[pg] = Math.min(spare, mostSlack)
    if (seen !== moving) continue
    const { size } = columns.pools.get(pgs.poolIds[pg] as number) as CephPool
    if (differentMembers(pgs.up, upFrom, upTo) < size) continue
    const spareLater = upMembers(pgs.up, upFrom, upTo, presence) - floor
    if (spareLater <= 0)
      blocks.add(pg, { row: pgs.up, from: upFrom, to: upTo, why: 'at-floor', left: spareLater + floor })
    else coming[pg] = Math.min(spareLater, mostSlack)
  }
  return { serving, coming }
}

function judgeSites(
  map: CephMap,
  { presence, evidence }: PgColumns,
  given: { readonly rules: readonly SiteRule[]; readonly rows: RowSlack; readonly blocks: StopBlocks },
): SiteEdge[] {
  const { pgs } = map
  const edges: SiteEdge[] = []
  const sites = poolSitesOf(map, given.rules)
  for (let pg = 0; sites.size > 0 && pg < pgs.count; pg += 1) {
    for (const rule of sites.get(pgs.poolIds[pg] as number) ?? []) {
      if (given.rows.serving[pg] !== 0) add(pg, rule, pgs.acting.subarray(pgs.offsets[pg], pgs.offsets[pg + 1]))
      if (evidence[pg] === moving && given.rows.coming[pg] !== 0)
        add(pg, rule, pgs.up.subarray(pgs.upOffsets[pg], pgs.upOffsets[pg + 1]))
    }
  }
  return edges

  function add(pg: number, rule: PoolSites, row: Int32Array): void {
    for (const members of upBySite(row, presence, rule).values()) {
      const only = Int32Array.from(members)
      if (members.length === 1) given.blocks.add(pg, { row: only, from: 0, to: 1, why: 'last-of-site' })
      else edges.push({ members, slack: Math.min(members.length - 1, mostSlack) })
    }
  }
}

function joinRows(given: {
  readonly map: CephMap
  readonly columns: PgColumns
  readonly osds: Int32Array
  readonly rows: RowSlack
  readonly sites: readonly SiteEdge[]
}): Omit<SlackHypergraph, 'blocked'> {
  const { osds, rows, sites } = given
  const { pgs } = given.map
  const { presence, evidence } = given.columns
  const unitOf = new Int32Array(presence.length).fill(-1)
  for (let unit = 0; unit < osds.length; unit += 1) {
    if (presence[osds[unit] as number] === up) unitOf[osds[unit] as number] = unit
  }
  const siteMembers = sites.reduce((sum, { members }) => sum + members.length, 0)
  const members = new Int32Array(pgs.acting.length + pgs.up.length + siteMembers)
  const ends = new Int32Array(2 * pgs.count + sites.length + 1)
  const slack = new Uint8Array(ends.length)
  let edges = 0
  let end = 0
  for (let pg = 0; pg < pgs.count; pg += 1) {
    const spare = rows.serving[pg] as number
    if (spare !== 0) addEdge(pgs.acting, pgs.offsets[pg] as number, pgs.offsets[pg + 1] as number, spare)
    if (evidence[pg] === complete) continue
    const later = rows.coming[pg] as number
    if (later !== 0) addEdge(pgs.up, pgs.upOffsets[pg] as number, pgs.upOffsets[pg + 1] as number, later)
  }
  for (const site of sites) addEdge(site.members, 0, site.members.length, site.slack)
  const edgeStarts = ends.slice(0, edges + 1)
  const edgeMembers = members.slice(0, end)
  const isDown = Uint8Array.from(osds, (id) => (presence[id] === up ? 0 : 1))
  return {
    osds,
    isDown,
    edgeStarts,
    edgeMembers,
    slack: slack.slice(0, edges),
    ...edgesByUnit(osds.length, edgeStarts, edgeMembers),
  }

  function addEdge(row: ArrayLike<number>, from: number, to: number, spare: number): void {
    const begin = end
    for (let at = from; at < to; at += 1) {
      const unit = unitOf[row[at] as number] ?? -1
      let found = begin
      while (found < end && members[found] !== unit) found += 1
      if (unit < 0 || found < end) continue
      members[end] = unit
      end += 1
    }
    if (end - begin <= spare) {
      end = begin
      return
    }
    slack[edges] = spare
    edges += 1
    ends[edges] = end
  }
}

export function edgesByUnit(
  unitCount: number,
  edgeStarts: Int32Array,
  edgeMembers: Int32Array,
): Pick<SlackHypergraph, 'unitStarts' | 'unitEdges'> {
  const unitStarts = new Int32Array(unitCount + 1)
  for (let at = 0; at < edgeMembers.length; at += 1) {
    const slot = (edgeMembers[at] as number) + 1
    unitStarts[slot] = (unitStarts[slot] as number) + 1
  }
  for (let unit = 0; unit < unitCount; unit += 1) {
    unitStarts[unit + 1] = (unitStarts[unit + 1] as number) + (unitStarts[unit] as number)
  }
  const unitEdges = new Int32Array(edgeMembers.length)
  const next = unitStarts.slice()
  for (let edge = 0; edge + 1 < edgeStarts.length; edge += 1) {
    for (let at = edgeStarts[edge] as number; at < (edgeStarts[edge + 1] as number); at += 1) {
      const unit = edgeMembers[at] as number
      unitEdges[next[unit] as number] = edge
      next[unit] = (next[unit] as number) + 1
    }
  }
  return { unitStarts, unitEdges }
}

function upMembers(row: Int32Array, from: number, to: number, presence: Uint8Array): number {
  let count = 0
  for (let at = from; at < to; at += 1) if (presence[row[at] as number] === up && isFirst(row, from, at)) count += 1
  return count
}

function differentMembers(row: Int32Array, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at += 1) {
    const id = row[at] as number
    if (id >= 0 && id !== noOsd && isFirst(row, from, at)) count += 1
  }
  return count
}

function isFirst(row: Int32Array, from: number, at: number): boolean {
  const id = row[at]
  for (let before = from; before < at; before += 1) if (row[before] === id) return false
  return true
}
