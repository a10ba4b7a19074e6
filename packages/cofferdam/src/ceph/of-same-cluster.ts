import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { CephMap } from '../safety/ceph-map.ts'
import { type Observed, unknown } from '../shared/observed.ts'

/** A configuration for one Ceph must not answer for another: a wrong map is worse than none. */
export function ofSameCluster(map: Observed<CephMap>, { status }: CephCluster): Observed<CephMap> {
  const fsid = status?.ceph?.fsid
  if (!map.known || fsid === undefined || fsid === '' || map.value.fsid === fsid) return map
  return unknown(`the Ceph that answers is another cluster (${map.value.fsid}, not ${fsid})`)
}
