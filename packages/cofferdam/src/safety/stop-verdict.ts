import { type CephMap, type CephPool, noOsd } from './ceph-map.ts'
import { Doubts } from './doubts.ts'
import { absent, up } from './freshness.ts'
import { doubtful, inactive, moving, noFloor, type PgColumns, unseen } from './pg-columns.ts'
import { isLastingDoubt } from './pg-evidence.ts'
import { siteLost } from './pool-sites.ts'
import type { StopVerdict } from './verdict.ts'
import { WorstPgs } from './worst-pgs.ts'

/** The placement groups that lose more than they can lose, or that need a second check when they lose anything. */
export function findSuspects({ presence, starts, entries, hits, slack }: PgColumns, osds: Iterable<number>): number[] {
  const suspects: number[] = []
  const leaving = [...new Set(osds)].filter((id) => presence[id] === up)
  for (const id of leaving) {
    const end = starts[id + 1] as number
    for (let at = starts[id] as number; at < end; at += 1) {
      const pg = entries[at] as number
      const lost = (hits[pg] as number) + 1
      hits[pg] = lost
      if (lost === (slack[pg] as number) + 1) suspects.push(pg)
    }
  }
  for (const id of leaving) {
    const end = starts[id + 1] as number
    for (let at = starts[id] as number; at < end; at += 1) hits[entries[at] as number] = 0
  }
  return suspects
}

/**
 * May these OSDs stop, with all that is down already?
 *
 * Assumes: `suspects` has every placement group that `findSuspects` finds for them; others among them do no harm.
 * Guarantees: `yes` only when every placement group that loses a member keeps its floor, and a copy on each
 * site that it has one on where its pool is stretched over sites, in the set that serves it now and
 * in the one that it is moving to, by reports that are newer than the last change of any of its OSDs; and no OSD stops of which
 * a placement group that is short of copies may not have heard yet.
 * Fails closed: what is not certain is `unknown`, or `no` where it stays so until somebody acts; a placement group that is below its floor already loses nothing more.
 */
export function judgeStop(input: {
  readonly map: CephMap
  readonly columns: PgColumns
  readonly osds: readonly number[]
  readonly suspects: Iterable<number>
}): StopVerdict {
  const { map, columns, osds, suspects } = input
  const { presence, floors, evidence, waiting } = columns
  const { pgs } = map
  const doubts = new Doubts(map, columns)
  const worst = new WorstPgs(map, columns)
  const leaving = new Set(osds.filter((id) => presence[id] === up))
  for (const id of new Set(osds)) if ((presence[id] ?? absent) === absent) doubts.missingOsds.push(id)
  for (const id of leaving) {
    const awaited = columns.newcomers.awaitedFor(id)
    if (awaited !== undefined) doubts.addNewcomer(id, awaited)
  }
  for (const pg of suspects) {
    const serving = lossOf(pgs.acting, pgs.offsets[pg] as number, pgs.offsets[pg + 1] as number)
    const coming = lossOf(pgs.up, pgs.upOffsets[pg] as number, pgs.upOffsets[pg + 1] as number)
    const floor = floors[pg] as number
    if (!serving.loses && !coming.loses) continue
    if (waiting[pg] === 1) doubts.addWaiting(pg)
    else if (floor === noFloor) doubts.addPool(pg)
    else if (evidence[pg] === inactive) worst.add(pg, 0)
    else if (evidence[pg] !== unseen) {
      const { size } = columns.pools.get(pgs.poolIds[pg] as number) as CephPool
      const mayReplace = evidence[pg] === moving && coming.members >= size
      const left = Math.min(leftOf(serving), mayReplace ? leftOf(coming) : Number.POSITIVE_INFINITY)
      const lostSite = left < floor ? undefined : siteLostOf(pg, { serving, coming, mayReplace })
      if (left < floor) worst.add(pg, left)
      else if (lostSite !== undefined) worst.add(pg, left, lostSite)
      else if (evidence[pg] === doubtful && isLasting(pg)) doubts.addLasting(pg)
      else if (evidence[pg] === doubtful && serving.loses) doubts.addDoubtful(pg)
    }
  }
  if (worst.count > 0) return { may: 'no', troubles: worst.troubles(), troubleCount: worst.count }
  const why = doubts.words()
  if (why !== undefined) return { may: 'unknown', why }
  if (doubts.lastingCount === 0) return { may: 'yes' }
  return { may: 'no', troubles: [], troubleCount: 0, doubts: doubts.lasting(), doubtCount: doubts.lastingCount }

  function isLasting(pg: number): boolean {
    return isLastingDoubt(pgs.stateNames[pgs.states[pg] as number] as string)
  }

  function siteLostOf(
    pg: number,
    rows: { readonly serving: RowLoss; readonly coming: RowLoss; readonly mayReplace: boolean },
  ): string | undefined {
    const sites = columns.sites.get(pgs.poolIds[pg] as number)
    if (sites === undefined) return undefined
    const acting = pgs.acting.subarray(pgs.offsets[pg], pgs.offsets[pg + 1])
    const next = pgs.up.subarray(pgs.upOffsets[pg], pgs.upOffsets[pg + 1])
    return (
      (rows.serving.loses ? siteLost({ row: acting, presence, leaving, sites }) : undefined) ??
      (rows.mayReplace && rows.coming.loses ? siteLost({ row: next, presence, leaving, sites }) : undefined)
    )
  }

  /** What would be left of one row; an OSD that stands in it twice is one member. */
  function lossOf(row: Int32Array, from: number, to: number): RowLoss {
    let members = 0
    let left = 0
    let loses = false
    for (let at = from; at < to; at += 1) {
      const id = row[at] as number
      const first = row.indexOf(id, from)
      if (id === noOsd || id < 0 || first < at) continue
      members += 1
      if (leaving.has(id)) loses = true
      else if (presence[id] === up) left += 1
    }
    return { members, left, loses }
  }
}

interface RowLoss {
  readonly members: number
  readonly left: number
  readonly loses: boolean
}

/** A row that loses nothing is nobody's trouble, however little it has. */
function leftOf({ left, loses }: RowLoss): number {
  return loses ? left : Number.POSITIVE_INFINITY
}
