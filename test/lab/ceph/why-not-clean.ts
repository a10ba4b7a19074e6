/** As `osd dump` has them. */
export interface DumpedOsd {
  readonly osd: number
  readonly up: number
  readonly up_from: number
  readonly down_at: number
}

/** As `pg dump pgs` has them. */
export interface DumpedPg {
  readonly pgid: string
  readonly state: string
  readonly up: readonly number[]
  readonly acting: readonly number[]
  readonly reported_epoch: number
}

/**
 * What is missing until every placement group is active+clean, undefined when nothing is.
 *
 * Guarantees: a report that was made before one of its OSDs last came or went counts as missing. States alone would call
 * a cluster clean for a second or more after an OSD died.
 */
export function whyNotClean(seen: {
  readonly osds: readonly DumpedOsd[]
  readonly pgs: readonly DumpedPg[]
  /** How many placement groups the pools have together. */
  readonly pgCount: number
  /** OSDs that run. */
  readonly expectedOsds: readonly number[]
}): string | undefined {
  const { osds, pgs, pgCount, expectedOsds } = seen
  const byId = new Map(osds.map((osd) => [osd.osd, osd]))
  const missing = expectedOsds.filter((id) => byId.get(id)?.up !== 1)
  if (missing.length > 0) return `not up: ${missing.map((id) => `osd.${id}`).join(', ')}`
  if (pgs.length !== pgCount) return `${pgs.length} of ${pgCount} placement groups are reported`
  const dirty = pgs.filter(({ state }) => state !== 'active+clean')
  if (dirty.length > 0)
    return `not clean: ${dirty
      .slice(0, 5)
      .map(({ pgid, state }) => `${pgid} ${state}`)
      .join(', ')}`
  const stale = pgs.filter(({ up, acting, reported_epoch: reported }) =>
    [...up, ...acting].some((id) => reported < lastChange(byId.get(id))),
  )
  if (stale.length > 0) return `${stale.length} reports are older than the last change of their OSDs`
  return undefined
}

function lastChange(osd: DumpedOsd | undefined): number {
  if (osd === undefined) return 0
  return osd.up === 1 ? osd.up_from : osd.down_at
}
