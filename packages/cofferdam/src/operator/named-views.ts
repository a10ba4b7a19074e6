import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { filteredView } from '@cofferdam/kubernetes/informers/filtered-view.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { isGuardedBefore } from '../capabilities/fencing/domain/guarded-before.ts'
import { type CephTrust, isNamed, namedNamespaces, nameOf, trustsNone } from '../shared/ceph-trust/named-clusters.ts'
import type { Log } from './log.ts'

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

/**
 * As above, with clusters that fencing has looked after before: an operator that comes without their names, as after an upgrade,
 * must not free their machines. Without what ceph-drain decides, their budgets stay closed.
 */
export function namedOrGuarded(
  trust: CephTrust,
  { clusters, budgets }: { readonly clusters: WatchView<CephCluster>; readonly budgets: () => WatchView<KubeObject> },
): OnlyNamed {
  const namespaces = namedNamespaces(trust)
  const isGuarded = (cluster: CephCluster) => isGuardedBefore(cluster, budgets().list())
  const isGuardedIn = (namespace: string) => clusters.byIndex('namespace', namespace).some(isGuarded)
  return {
    clusters: (view) => filteredView(view, (cluster) => isNamed(trust, nameOf(cluster)) || isGuarded(cluster)),
    inNamespaces: (view) =>
      filteredView(view, ({ metadata: { namespace = '' } }) => namespaces.has(namespace) || isGuardedIn(namespace)),
  }
}

/** Says once on which clusters this operator acts. */
export function tellTrust({ trust = trustsNone, log }: { readonly trust?: CephTrust; readonly log: Log }): void {
  const { named, own, grow } = trust
  if (named.length > 0) log.info({ named, own, grow }, 'acts on these CephClusters and on no other')
  else log.info('acts on no CephCluster: name those to manage with --ceph-clusters NAMESPACE/NAME')
}
