import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { configMaps, jobs, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumeClaims } from '@cofferdam/kubernetes/api/storage.ts'
import { createScopedCache } from '@cofferdam/kubernetes/informers/scoped-cache.ts'
import { createWatchCache } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import { randomSuffix } from '@cofferdam/kubernetes/runtime/random.ts'
import type { CephReports } from '../capabilities/ceph-drain/report/report.ts'
import { createOsdGrowth } from '../capabilities/osd-update/controller/growth.ts'
import { claimLabels } from '../capabilities/osd-update/domain/growth-places.ts'
import { prepareApp } from '../capabilities/osd-update/domain/growth-snapshot.ts'
import { slimGrowthNode } from '../capabilities/osd-update/observe/growth.ts'
import { observeOsdUuids } from '../capabilities/osd-update/observe/observe-osd-uuids.ts'
import type { CephPorts } from '../ceph/reader/ceph-ports.ts'
import type { RookPresence } from '../ceph/reader/rook-presence.ts'
import { type CephTrust, growingNamespaces } from '../shared/ceph-trust/named-clusters.ts'
import { unknown } from '../shared/observed.ts'
import type { Metrics } from './metrics.ts'
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
        newNonce: () => randomSuffix(random.stream('osd-growth nonces'), nonceLength),
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
