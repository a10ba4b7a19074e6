import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { CephMap } from '../../safety/ceph-map.ts'

/** The little that one `ceph status` says: enough to see that nothing happened. */
export interface CephPulse {
  readonly epoch: number
  readonly pgStates: Readonly<Record<string, number>>
  /** How many OSDs are up. */
  readonly upOsds: number
  /** No mgr is active: the states of placement groups may be old. All else is from the mons. */
  readonly isWithoutMgr?: true
}

/** Assumes: the groups in the map have reported by its epoch. Placement follows the epoch; within one only the states of groups change. */
export function isUnchanged(map: CephMap, pulse: CephPulse, isHealthyState: (state: string) => boolean): boolean {
  if (pulse.epoch !== map.epoch) return false
  const { states, stateNames } = map.pgs
  const counts: Record<string, number> = {}
  for (const state of states) {
    const name = stateNames[state] as string
    counts[name] = (counts[name] ?? 0) + 1
  }
  const isHealthy = (byState: Readonly<Record<string, number>>) => Object.keys(byState).every(isHealthyState)
  // Scrubbing comes and goes all day, and means nothing here.
  return (isHealthy(counts) && isHealthy(pulse.pgStates)) || isSameJson(counts, pulse.pgStates)
}

/** Read anew, and of the same parts: those are shared where Ceph answered with the same text. */
export function hasSameParts(before: CephMap, after: CephMap): boolean {
  if (before === after) return true
  const { sites: sitesBefore, ...partsBefore } = before
  const { sites, ...parts } = after
  const names = Object.keys(parts) as (keyof typeof parts)[]
  return (
    names.length === Object.keys(partsBefore).length &&
    names.every((name) => partsBefore[name] === parts[name]) &&
    isSameJson(sitesBefore ?? [], sites ?? [])
  )
}
