import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { filteredView } from '@cofferdam/kubernetes/informers/filtered-view.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { type CephTrust, isNamed, namedNamespaces, nameOf } from '../../shared/ceph-trust/named-clusters.ts'

/** What the controllers see of Ceph: the one place where CephClusters of others are left out. */
export interface OnlyNamed {
  clusters(view: WatchView<CephCluster>): WatchView<CephCluster>
  /** Only what is in the namespace of a named cluster. */
  inNamespaces<V extends Placed>(view: WatchView<V>): WatchView<V>
}

interface Placed {
  readonly metadata: { readonly namespace?: string }
}

export function onlyNamed(trust: CephTrust): OnlyNamed {
  const namespaces = namedNamespaces(trust)
  return {
    clusters: (view) => filteredView(view, (cluster) => isNamed(trust, nameOf(cluster))),
    inNamespaces: (view) => filteredView(view, ({ metadata }) => namespaces.has(metadata.namespace ?? '')),
  }
}
