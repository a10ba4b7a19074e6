import type { CephMap } from '../safety/ceph-map.ts'
import { osdPresence, up } from '../safety/freshness.ts'
import type { BlockedOsd } from '../safety/slack-hypergraph-blocks.ts'

/**
 * OSDs that came up after the last report of a placement group that is short of copies. It may be theirs: they are in none of its
 * rows yet, so nothing else would keep them from being stopped again at the very moment they bring a copy back.
 */
export function unheardNewcomers(map: CephMap, osds: readonly number[]): BlockedOsd[] {
  const { pgs, epoch } = map
  const upFrom = new Map(map.osds.filter(({ isUp }) => isUp).map((osd) => [osd.id, osd.upFrom]))
  const isCandidate = osds.some((id) => (upFrom.get(id) ?? 0) > 0)
  if (!isCandidate) return []
  const presence = osdPresence(map.osds)
  const sizes = new Map(map.pools.map(({ id, size }) => [id, size]))
  let oldest = epoch
  let name = ''
  for (let pg = 0; pg < pgs.count; pg += 1) {
    const reported = pgs.reportedEpochs[pg] as number
    if (reported >= oldest) continue
    const poolId = pgs.poolIds[pg] as number
    let left = 0
    for (let at = pgs.offsets[pg] as number; at < (pgs.offsets[pg + 1] as number); at += 1) {
      if (presence[pgs.acting[at] as number] === up) left += 1
    }
    if (left >= (sizes.get(poolId) ?? Number.POSITIVE_INFINITY)) continue
    oldest = reported
    name = `${poolId}.${(pgs.pgNumbers[pg] as number).toString(16)}`
  }
  return osds.flatMap((osd) => {
    const since = upFrom.get(osd)
    if (since === undefined || since <= oldest) return []
    return [{ osd, why: `placement group ${name} is short of copies and has not reported since osd.${osd} came up` }]
  })
}
