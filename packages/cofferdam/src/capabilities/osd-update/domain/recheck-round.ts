import { type CephMap, type CrushBucket, noOsd, type SiteRule } from '../../../safety/ceph-map.ts'
import { pgEvidenceOf } from '../../../safety/pg-evidence.ts'

export type RoundCheck =
  | { readonly isSafe: true }
  | {
      readonly isSafe: false
      readonly why: string
      readonly pg?: string
      readonly pool?: string
      /** Reports are missing, or too old to decide on: it may be safe all the same. */
      readonly isUnsure?: true
    }

/**
 * May this batch stop? Asked once more before anything does, from the rows as Ceph gave them, one placement group after the
 * other: written to be read, not to be fast, and without a line of what made the plan but for the names of PG states.
 *
 * Fails closed: what cannot be judged is not safe.
 */
export function recheckRound(input: {
  readonly map: CephMap
  readonly osds: readonly number[]
  readonly reserve?: number
  readonly sites?: readonly SiteRule[]
}): RoundCheck {
  const { map, reserve = 0, sites = [] } = input
  const { pgs } = map
  const osdById = new Map(map.osds.map((osd) => [osd.id, osd]))
  const poolById = new Map(map.pools.map((pool) => [pool.id, pool]))
  const evidenceOfState = pgs.stateNames.map(pgEvidenceOf)
  const parents = new Map<number, CrushBucket>()
  // The first one counts where CRUSH has it in several.
  for (const bucket of sites.length === 0 ? [] : map.crush.buckets.toReversed()) {
    for (const child of bucket.children) parents.set(child, bucket)
  }
  const isUp = (id: number) => osdById.get(id)?.isUp === true
  const leaving = new Set(input.osds.filter(isUp))
  const missing = input.osds.find((id) => !osdById.has(id))
  if (missing !== undefined) return { isSafe: false, why: `the OSD map has no osd.${missing}` }

  const isLeaving = (id: number) => leaving.has(id)
  for (let row = 0; row < pgs.count; row += 1) {
    const actingRow = pgs.acting.subarray(pgs.offsets[row], pgs.offsets[row + 1])
    const upRow = pgs.up.subarray(pgs.upOffsets[row], pgs.upOffsets[row + 1])
    const reported = pgs.reportedEpochs[row] as number
    const evidence = evidenceOfState[pgs.states[row] as number] ?? 'unseen'
    if (reported > map.epoch) return unsure(row, 'has a report that is newer than the OSD map')
    if (evidence === 'unseen' || (evidence !== 'inactive' && !actingRow.some(isOsd))) {
      return unsure(row, 'has not been reported by any OSD yet')
    }
    if (!actingRow.some(isLeaving) && !upRow.some(isLeaving)) continue
    const acting = [...new Set(actingRow)].filter(isOsd)
    const up = [...new Set(upRow)].filter(isOsd)
    if ([...acting, ...up].some((id) => changedAt(id) > reported)) return unsure(row, 'was reported before a change')
    const pool = poolById.get(pgs.poolIds[row] as number)
    const floor = pool === undefined ? Number.NaN : pool.minSize + reserve
    if (pool === undefined || !Number.isInteger(floor) || pool.minSize < 1 || reserve < 0) {
      return refuse(row, 'has no known number of copies to keep')
    }
    if (evidence === 'inactive') return refuse(row, 'is not active')
    const rows = evidence === 'moving' && up.length >= pool.size ? [acting, up] : [acting]
    for (const members of rows) {
      if (!members.some(isLeaving)) continue
      const left = members.filter((id) => isUp(id) && !isLeaving(id))
      if (left.length < floor) return refuse(row, `would have ${left.length} copies left and must keep ${floor}`)
      for (const { type } of sites.filter(({ poolIds }) => poolIds.includes(pool.id))) {
        const had = members.filter(isUp).map((id) => siteOf(id, type))
        const lost = had.find((site) => !left.some((id) => siteOf(id, type) === site))
        if (lost !== undefined) return refuse(row, `would have no copy left in ${lost || `any ${type}`}`)
      }
    }
    if (evidence === 'doubtful' && acting.some(isLeaving)) return unsure(row, 'may have a copy that lacks objects')
  }
  return { isSafe: true }

  /** The bucket of that type above the OSD, or nothing. */
  function siteOf(id: number, type: string, above = 0): string {
    const parent = parents.get(id)
    if (parent === undefined || above > map.crush.buckets.length) return ''
    return parent.type === type ? parent.name : siteOf(parent.id, type, above + 1)
  }

  function changedAt(id: number): number {
    const osd = osdById.get(id)
    return osd === undefined ? 0 : Math.max(osd.upFrom, osd.downAt)
  }

  function unsure(row: number, what: string): RoundCheck {
    return { ...refuse(row, what), isUnsure: true }
  }

  function refuse(row: number, what: string) {
    const id = pgs.poolIds[row] as number
    const pg = `${id}.${(pgs.pgNumbers[row] as number).toString(16)}`
    const pool = poolById.get(id)?.name ?? `number ${id}`
    return { isSafe: false as const, why: `placement group ${pg} of pool ${pool} ${what}`, pg, pool }
  }
}

function isOsd(id: number): boolean {
  return id >= 0 && id !== noOsd
}
