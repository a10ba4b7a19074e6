import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { OwnershipQuestion } from '../../safety/ceph-ownership.ts'
import { type CephTrust, isContested, isRooks, nameOf } from '../../shared/ceph-trust/named-clusters.ts'
import { doesRookRun } from '../../shared/ceph-trust/rook-runs.ts'

/** Whether Rook's own operator writes the same objects. */
export interface RookPresence {
  readonly operators: WatchView<Deployment>
  /** What the administrator says, and whether a Rook runs that has to do with this cluster. */
  surroundings(cluster: CephCluster): Omit<OwnershipQuestion, 'cluster'>
  /** Rook's, whether it runs now or not, unless the administrator has said otherwise. */
  isRooks(cluster: CephCluster): boolean
  /** The administrator says that no Rook writes there, and one runs. */
  isContested(cluster: CephCluster): boolean
}

/** `osds` is indexed by `namespace`, and opened only where a Rook runs elsewhere. */
export function rookPresence(
  operators: WatchView<Deployment>,
  { trust, osds }: { readonly trust: CephTrust; readonly osds: () => WatchView<Deployment> },
): RookPresence {
  const surroundings = (cluster: CephCluster) => {
    const id = nameOf(cluster)
    const own = () => (osds().synced ? osds().byIndex('namespace', id.namespace) : undefined)
    return { trust, rookRuns: doesRookRun(id, operators.list(), own) }
  }
  return {
    operators,
    surroundings,
    isRooks: (cluster) => isRooks(trust, nameOf(cluster), surroundings(cluster)),
    isContested: (cluster) => isContested(trust, nameOf(cluster), surroundings(cluster)),
  }
}
