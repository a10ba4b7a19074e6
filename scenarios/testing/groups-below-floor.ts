import { type CephMap, noOsd } from '@cofferdam/product/safety/ceph-map.ts'

/**
 * Placement groups that clients cannot reach, whatever was last reported of them: of the OSDs that serve a group, those
 * that the map has down serve it no longer.
 */
export function groupsBelowFloor({ pgs, pools, osds }: CephMap): string[] {
  const up = new Set(osds.filter(({ isUp }) => isUp).map(({ id }) => id))
  const floors = new Map(pools.map(({ id, minSize }) => [id, minSize]))
  return (
    Array.from({ length: pgs.count }, (_, index) => index)
      // A new mgr has heard of no group yet, and says nothing of where it is served.
      .filter((index) => pgs.stateNames[pgs.states[index] as number] !== 'unknown')
      .filter((index) => {
        const members = pgs.acting.slice(pgs.offsets[index], pgs.offsets[index + 1])
        const serving = members.filter((osd) => osd !== noOsd && up.has(osd)).length
        return serving < (floors.get(pgs.poolIds[index] as number) ?? 0)
      })
      .map((index) => `${pgs.poolIds[index]}.${pgs.pgNumbers[index]?.toString(16)}`)
  )
}
