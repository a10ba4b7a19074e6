import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { createOptionalCache } from '@cofferdam/kubernetes/informers/optional-cache.ts'
import { createWatchCache } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import { rookPresence } from '../ceph/reader/rook-presence.ts'
import type { CephTrust } from '../shared/ceph-trust/named-clusters.ts'
import { indexOfOsd } from '../shared/parse-osd.ts'
import { type DaemonScope, openDaemonViews } from './daemon-views.ts'
import { onlyNamed } from './named-views.ts'
import { type Own, once, type ViewPorts, viewBase } from './shared-views.ts'
import { slimBudget, slimCephCluster, slimPod } from './slim-objects.ts'

/** What is seen of Ceph in Kubernetes. Each is opened once, when the first asks for it; `all...` have what strangers made too. */
export function openCephViews(ports: ViewPorts & DaemonScope & { readonly own: Own; readonly trust: CephTrust }) {
  const { own, trust, log } = ports
  const base = viewBase(ports)
  const only = onlyNamed(trust)
  const byNamespace = { namespace: (object: KubeObject) => [object.metadata.namespace ?? ''] }
  const rookKind = <T extends KubeObject>(type: ResourceType<T>, project?: (object: T) => T) =>
    once(() =>
      own(
        type.plural,
        createOptionalCache<T, T>({
          ...base,
          type,
          indexes: byNamespace,
          ...(project === undefined ? {} : { project }),
          onAbsent: () =>
            log.info({ resource: type.plural }, 'the cluster has no such kind; it is asked again now and then'),
        }),
      ),
    )
  const daemons = openDaemonViews(ports, own)
  const allClusters = rookKind(cephClusters, slimCephCluster)
  const allOsds = daemons.osds
  const allOsdPods = once(() =>
    own(
      'pods/osd',
      createWatchCache({
        ...base,
        type: pods,
        labelSelector: 'app=rook-ceph-osd',
        project: slimPod,
        indexes: { osd: indexOfOsd },
      }),
    ),
  )
  const osdDeployments = once(() => only.inNamespaces(allOsds()))
  return {
    only,
    rookKind,
    allClusters,
    allOsds,
    allOsdPods,
    monDeployments: daemons.mons,
    daemonPods: daemons.monPods,
    cephNodes: daemons.nodes,
    rook: once(() => rookPresence(daemons.rook(), { trust, osds: osdDeployments })),
    clusters: once(() => only.clusters(allClusters())),
    osdDeployments,
    osdPods: once(() => only.inNamespaces(allOsdPods())),
    budgets: once(() =>
      own(
        'poddisruptionbudgets',
        createWatchCache({ ...base, type: podDisruptionBudgets, project: slimBudget, indexes: byNamespace }),
      ),
    ),
  }
}
