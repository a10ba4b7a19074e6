import type { CephMap } from './ceph-map.ts'
import type { CephView } from './ceph-view.ts'
import { newestReport, stalePgCount } from './freshness.ts'
import { pgEvidenceOf } from './pg-evidence.ts'
import { placementGroupsHave } from './pg-words.ts'

const calm = new Set(['clean', 'deep', 'scrubbing', 'snaptrim', 'snaptrim_wait'])

/** `active`, then one or more of the flags of a placement group that lacks nothing: as Rook's default pattern has it. */
export function isHealthyPgState(state: string): boolean {
  const [first, ...others] = state.split('+')
  return first === 'active' && others.length > 0 && others.every((flag) => calm.has(flag))
}

/**
 * Fails closed: `unknown`, whatever the states say, while a report is older than a change of its OSDs or newer than the map,
 * and while a placement group has not been reported at all.
 */
export function pgHealth(map: CephMap, isHealthyState: (state: string) => boolean): CephView['pgs'] {
  const newest = newestReport(map)
  if (newest > map.epoch) {
    return {
      health: 'unknown',
      why: `the OSD map of epoch ${map.epoch} is older than a report from epoch ${newest}`,
    }
  }
  const stale = stalePgCount(map)
  if (stale > 0) {
    return { health: 'unknown', why: `${placementGroupsHave(stale)} not reported since the last change of their OSDs` }
  }
  const counts = new Map<number, number>()
  for (const state of map.pgs.states.subarray(0, map.pgs.count)) counts.set(state, (counts.get(state) ?? 0) + 1)
  const dirty: [string, number][] = []
  let unseen = 0
  for (const [state, count] of counts) {
    const name = map.pgs.stateNames[state] ?? ''
    if (pgEvidenceOf(name) === 'unseen') unseen += count
    else if (!isHealthyState(name)) dirty.push([name, count])
  }
  if (unseen > 0) return { health: 'unknown', why: `${placementGroupsHave(unseen)} not been reported by any OSD yet` }
  if (dirty.length === 0) return { health: 'clean' }
  return { health: 'unclean', dirtyStates: Object.fromEntries(dirty.sort(([a], [b]) => (a < b ? -1 : 1))) }
}
