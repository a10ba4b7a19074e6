import type { Deployment } from '../api/apps.ts'
import type { CephCluster } from '../api/rook.ts'
import { type CephTrust, isContested, isRooks, nameOf } from '../domain/ceph-trust/named-clusters.ts'
import type { WatchView } from '../kube/watch-view.ts'

/** Whether Rook's own operator writes the same objects. */
export interface RookPresence {
  readonly operators: WatchView<Deployment>
  /** Rook's, whether it runs at this moment or not, unless the administrator has said otherwise. */
  isRooks(cluster: CephCluster): boolean
  /** The administrator says that no Rook writes there, and one runs. */
  isContested(cluster: CephCluster): boolean
}

/** An operator that is only restarting is still there; one that is scaled to none is not. */
export function rookPresence(operators: WatchView<Deployment>, trust: CephTrust): RookPresence {
  const rookRuns = () => [...operators.list()].some(({ spec }) => (spec.replicas ?? 1) > 0)
  return {
    operators,
    isRooks: (cluster) => isRooks(trust, nameOf(cluster), { rookRuns: rookRuns() }),
    isContested: (cluster) => isContested(trust, nameOf(cluster), { rookRuns: rookRuns() }),
  }
}
