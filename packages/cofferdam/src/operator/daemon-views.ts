import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { defaultRookNamespace, rookOperatorSelector } from '@cofferdam/kubernetes/api/kinds/rook-operator.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { deployments, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { createScopedCache, type ScopedCache } from '@cofferdam/kubernetes/informers/scoped-cache.ts'
import { createWatchCache } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import { parseNode } from '../capabilities/ceph-drain/domain/cluster-objects.ts'
import { type CephTrust, namedNamespaces } from '../shared/ceph-trust/named-clusters.ts'
import { type Own, once, scopedBase, type ViewPorts, viewBase } from './shared-views.ts'
import { slimDeployment, slimPod } from './slim-objects.ts'

const monsAndMgrs = 'app in (rook-ceph-mon,rook-ceph-mgr)'

/** Where Deployments are read: rights to read them everywhere would be rights to read those of everybody. */
export interface DaemonScope {
  /** Where Rook's own operator may run, beside the namespaces of its clusters. */
  readonly rookNamespaces?: readonly string[]
}

/**
 * The Deployments of Ceph daemons and of Rook's operator and the pods of mons and mgrs, indexed by `namespace`, and the nodes they
 * may be on, indexed by `hostname`. Each is opened when the first asks for it.
 */
export function openDaemonViews(ports: ViewPorts & DaemonScope & { readonly trust: CephTrust }, own: Own) {
  const { trust, rookNamespaces = [defaultRookNamespace] } = ports
  const cephNamespaces = [...namedNamespaces(trust)]
  const byNamespace = { namespace: ({ metadata }: KubeObject) => [metadata.namespace ?? ''] }
  const open = (name: string, labelSelector: string, namespaces: readonly string[] = cephNamespaces) =>
    once(
      (): ScopedCache<Deployment> =>
        own(
          `deployments/${name}`,
          createScopedCache({
            ...scopedBase(ports, namespaces),
            type: deployments,
            labelSelector,
            project: slimDeployment,
            indexes: byNamespace,
          }),
        ),
    )
  return {
    rook: open('rook', rookOperatorSelector, [...cephNamespaces, ...rookNamespaces]),
    osds: open('osd', 'app=rook-ceph-osd'),
    nodes: once(() =>
      own(
        'nodes/ceph',
        createWatchCache({
          ...viewBase(ports),
          type: nodes,
          project: parseNode,
          indexes: { hostname: ({ hostname }) => [hostname] },
        }),
      ),
    ),
    mons: open('mon', monsAndMgrs),
    monPods: once(() =>
      own(
        'pods/mon',
        createWatchCache({
          ...viewBase(ports),
          type: pods,
          labelSelector: monsAndMgrs,
          project: slimPod,
          indexes: byNamespace,
        }),
      ),
    ),
  }
}
