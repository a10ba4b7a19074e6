import type { CephMap } from '../../../safety/ceph-map.ts'

/** The OSDs that run and hold data, ascending: Ceph says nothing about others. */
export function stoppableOsds(map: CephMap, osds: readonly number[]): number[] {
  const up = new Set(map.osds.filter(({ isUp }) => isUp).map(({ id }) => id))
  const withData = new Set<number>(map.pgs.acting)
  return osds.filter((osd) => up.has(osd) && withData.has(osd)).sort((a, b) => a - b)
}
