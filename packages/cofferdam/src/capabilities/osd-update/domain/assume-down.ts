import type { CephMap } from '../../../safety/ceph-map.ts'

/** The same map as if these OSDs were down already: Ceph takes seconds to notice what Kubernetes has stopped. */
export function assumeDown(map: CephMap, osds: ReadonlySet<number>): CephMap {
  if (!map.osds.some(({ id, isUp }) => isUp && osds.has(id))) return map
  return { ...map, osds: map.osds.map((osd) => (osds.has(osd.id) && osd.isUp ? { ...osd, isUp: false } : osd)) }
}
