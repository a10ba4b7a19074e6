import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { soleNode } from '../../../shared/node-hostnames.ts'
import { parseServiceDaemon } from '../domain/cluster-objects.ts'
import type { NodeView, ServiceDaemonView } from '../domain/snapshot.ts'

export interface ServiceDaemonViews {
  /** Of MDS, NFS servers and NVMe-oF gateways, indexed by `namespace`. */
  readonly serviceDeployments: WatchView<Deployment>
  readonly servicePods: WatchView<Pod>
  /** Indexed by `hostname`. */
  readonly nodes: WatchView<NodeView>
}

/** Daemons of services of one cluster, in the order of their names. */
export function observeServiceDaemons(views: ServiceDaemonViews, namespace: string): ServiceDaemonView[] {
  const pods = views.servicePods.byIndex('namespace', namespace)
  const nodeOf = (hostname: string) => soleNode(hostname, views.nodes.byIndex('hostname', hostname))
  return views.serviceDeployments
    .byIndex('namespace', namespace)
    .flatMap((deployment) => parseServiceDaemon(deployment, pods, { nodeOf }) ?? [])
    .sort((a, b) => (`${a.budget} ${a.id}` < `${b.budget} ${b.id}` ? -1 : 1))
}
