import type { CephMap } from '../../../safety/ceph-map.ts'
import { unheardNewcomers } from '../../../safety/newcomers.ts'
import type { UpdatableOsd } from './snapshot.ts'
import type { StartNotes } from './stored-update.ts'

/** What a placement group that has not found together yet says of itself. */
const unsettled = ['peering', 'activating', 'stale', 'down', 'incomplete', 'unknown', 'creating', 'inactive']

/**
 * OSDs that are up, and whose placement groups have all peered by reports that are newer than their return.
 *
 * Fails closed: whoever has not come up after the given epoch is still the OSD of before, and has not come back; neither has one
 * whose placement groups may not have spoken of it yet.
 */
export function peeredOsds(
  map: CephMap,
  stoppedIn: (osd: number) => number | undefined,
  osds: readonly number[],
): ReadonlySet<number> {
  const { pgs } = map
  const upFrom = new Map<number, number>()
  for (const osd of map.osds) if (osd.isUp && osd.upFrom > (stoppedIn(osd.id) ?? -1)) upFrom.set(osd.id, osd.upFrom)
  const hasPeered = pgs.stateNames.map(isPeeredState)
  const asked = new Set(osds.filter((osd) => upFrom.has(osd)))
  if (asked.size === 0) return asked
  const judge = (members: Int32Array, from: number, to: number, pg: number) => {
    const isPeered = hasPeered[pgs.states[pg] as number] === true
    const reported = pgs.reportedEpochs[pg] as number
    for (let at = from; at < to; at += 1) {
      const osd = members[at] as number
      if (asked.has(osd) && (!isPeered || reported < (upFrom.get(osd) as number))) asked.delete(osd)
    }
  }
  for (let pg = 0; pg < pgs.count; pg += 1) {
    judge(pgs.acting, pgs.offsets[pg] as number, pgs.offsets[pg + 1] as number, pg)
    judge(pgs.up, pgs.upOffsets[pg] as number, pgs.upOffsets[pg + 1] as number, pg)
  }
  for (const { osd } of unheardNewcomers(map, [...asked])) asked.delete(osd)
  return asked
}

/** So long after a start the old pod may be all that was heard of. */
const unmovedMs = 60_000

/**
 * The epoch of Ceph's map in which each OSD was stopped by its last start: it is back only when it came up later. None for one whose start
 * restarted nothing, because its Deployment was put back at once: it would never come up later, and freeze the update for good.
 */
export function stopEpochs(
  starts: StartNotes,
  {
    osds,
    nowMs,
  }: { readonly osds: readonly Pick<UpdatableOsd, 'id' | 'startedMs' | 'isUnmoved'>[]; readonly nowMs: number },
): (osd: number) => number | undefined {
  const byId = new Map(osds.map((osd) => [osd.id, osd]))
  return (id) => {
    const note = starts.get(id)
    const { startedMs, isUnmoved } = byId.get(id) ?? {}
    if (note === undefined || note.atMs !== startedMs) return undefined
    return isUnmoved === true && nowMs - startedMs >= unmovedMs ? undefined : note.epoch
  }
}

function isPeeredState(state: string): boolean {
  const flags = state.split('+')
  return flags.some((flag) => flag === 'active' || flag === 'peered') && !flags.some((flag) => unsettled.includes(flag))
}

/**
 * Whether one of these OSDs is up with a placement group that had not peered when it last reported. Ceph refuses to have it stopped then, and
 * with it whatever else it is asked about: a group says `peering` for up to five seconds after it has peered.
 */
export function isAnyPeering({ osds: all, pgs }: CephMap, osds: readonly number[]): boolean {
  const up = new Set(osds.length === 0 ? [] : all.filter(({ isUp }) => isUp).map(({ id }) => id))
  const asked = new Set(osds.filter((id) => up.has(id)))
  if (asked.size === 0) return false
  const hasPeered = pgs.stateNames.map(isPeeredState)
  for (let pg = 0; pg < pgs.count; pg += 1) {
    if (hasPeered[pgs.states[pg] as number] === true) continue
    for (let at = pgs.offsets[pg] as number; at < (pgs.offsets[pg + 1] as number); at += 1)
      if (asked.has(pgs.acting[at] as number)) return true
  }
  return false
}
