import type { Deployment } from '../api/apps.ts'
import type { KubeObject } from '../api/kube-object.ts'
import type { ResourceType } from '../api/resource-type.ts'
import { configMaps, jobs, nodes } from '../api/resources.ts'
import type { CephCluster } from '../api/rook.ts'
import { persistentVolumeClaims } from '../api/storage.ts'
import { observeOsdUuids } from '../ceph/observe-osd-uuids.ts'
import type { CephReports } from '../controllers/ceph-drain-report.ts'
import type { CephPorts } from '../controllers/ceph-ports.ts'
import { createOsdGrowth } from '../controllers/osd-growth.ts'
import { slimGrowthNode } from '../controllers/osd-growth-observe.ts'
import type { RookPresence } from '../controllers/rook-presence.ts'
import { type CephTrust, growingNamespaces } from '../domain/ceph-trust/named-clusters.ts'
import { unknown } from '../domain/observed.ts'
import { claimLabels } from '../domain/osd-update/growth-places.ts'
import { prepareApp } from '../domain/osd-update/growth-snapshot.ts'
import { createScopedCache } from '../kube/scoped-cache.ts'
import { createWatchCache } from '../kube/watch-cache.ts'
import type { WatchView } from '../kube/watch-view.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Controller } from '../runtime/controller.ts'
import { randomSuffix } from '../runtime/random.ts'
import type { OnlyNamed } from './named-views.ts'
import { type Own, scopedBase, type ViewPorts, viewBase } from './shared-views.ts'

const timeoutMs = 15_000
const nonceLength = 24

export interface OsdGrowthWiring extends ViewPorts {
  readonly own: Own
  readonly only: OnlyNamed
  readonly trust: CephTrust
  readonly ceph: Pick<CephPorts, 'of'>
  readonly reports: CephReports
  readonly metrics: Pick<Metrics, 'osdUpdate'>
  readonly rook: () => RookPresence
  readonly clusters: () => WatchView<CephCluster>
  readonly osdDeployments: () => WatchView<Deployment>
}

export function osdGrowthControllers(wiring: OsdGrowthWiring): { readonly 'osd-growth': () => Controller } {
  const { api, own, reports, only, trust, ceph, random } = wiring
  const base = viewBase(wiring)
  const labelled = <T extends KubeObject>(type: ResourceType<T>, labelSelector: string) =>
    only.inNamespaces(
      own(
        `${type.plural}/osd-growth`,
        createScopedCache<T, T>({
          ...scopedBase(wiring, [...growingNamespaces(trust)]),
          type,
          labelSelector,
          project: withoutManagedFields,
          indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''] },
        }),
      ),
    )
  return {
    'osd-growth': () =>
      createOsdGrowth({
        api,
        reports: { ...reports, growth: wiring.metrics.osdUpdate },
        rook: wiring.rook(),
        trust,
        newNonce: () => randomSuffix(random, nonceLength),
        observeOsdUuids: async (cluster, signal) => {
          const commands = ceph.of(cluster)
          if (commands === undefined) return unknown('no way to reach this Ceph is known')
          return observeOsdUuids(commands, { timeoutMs, signal })
        },
        views: {
          clusters: wiring.clusters(),
          osdDeployments: wiring.osdDeployments(),
          nodes: own('nodes/osd-growth', createWatchCache({ ...base, type: nodes, project: slimGrowthNode })),
          jobs: labelled(jobs, `app=${prepareApp}`),
          statuses: labelled(configMaps, 'app=rook-ceph-osd'),
          claims: labelled(persistentVolumeClaims, claimLabels.set),
        },
      }),
  }
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
