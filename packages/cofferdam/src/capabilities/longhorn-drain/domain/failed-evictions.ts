import type { LonghornSnapshot } from './snapshot.ts'

/** Volumes of which a replica is to leave and finds no place, with Longhorn's words for it. */
export function failedEvictions({ volumes, replicas }: LonghornSnapshot): ReadonlyMap<string, string> {
  const stuck = volumes.filter(({ schedulingProblem }) => schedulingProblem !== undefined)
  if (stuck.length === 0) return new Map()
  const leaving = new Set(replicas.filter((replica) => replica.isEvictionRequested).map(({ volume }) => volume))
  return new Map(
    stuck
      .filter(({ name }) => leaving.has(name))
      .map(({ name, schedulingProblem }) => [name, `No node takes another copy: ${schedulingProblem}.`]),
  )
}
