import type { Deployment } from '../api/apps.ts'
import type { KubeObject } from '../api/kube-object.ts'
import type { ResourceType } from '../api/resource-type.ts'
import { configMaps, jobs, nodes } from '../api/resources.ts'
import type { CephCluster } from '../api/rook.ts'
import { persistentVolumeClaims } from '../api/storage.ts'
import type { CephReports } from '../controllers/ceph-drain-report.ts'
import { createOsdGrowth } from '../controllers/osd-growth.ts'
import { slimGrowthNode } from '../controllers/osd-growth-observe.ts'
import type { RookPresence } from '../controllers/rook-presence.ts'
import { claimLabels } from '../domain/osd-update/growth-places.ts'
import { prepareApp } from '../domain/osd-update/growth-snapshot.ts'
import { createWatchCache } from '../kube/watch-cache.ts'
import type { WatchView } from '../kube/watch-view.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Controller } from '../runtime/controller.ts'
import { type Own, type ViewPorts, viewBase } from './shared-views.ts'

export interface OsdGrowthWiring extends ViewPorts {
  readonly own: Own
  readonly reports: CephReports
  readonly metrics: Pick<Metrics, 'osdUpdate'>
  readonly rook: () => RookPresence
  readonly clusters: () => WatchView<CephCluster>
  readonly osdDeployments: () => WatchView<Deployment>
}

export function osdGrowthControllers(wiring: OsdGrowthWiring): { readonly 'osd-growth': () => Controller } {
  const { api, own, reports } = wiring
  const base = viewBase(wiring)
  const labelled = <T extends KubeObject>(type: ResourceType<T>, labelSelector: string) =>
    own(
      `${type.plural}/osd-growth`,
      createWatchCache<T, T>({
        ...base,
        type,
        labelSelector,
        project: withoutManagedFields,
        indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''] },
      }),
    )
  return {
    'osd-growth': () =>
      createOsdGrowth({
        api,
        reports: { ...reports, growth: wiring.metrics.osdUpdate },
        rook: wiring.rook(),
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
