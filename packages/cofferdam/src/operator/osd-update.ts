import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { createScopedCache } from '@cofferdam/kubernetes/informers/scoped-cache.ts'
import { createWatchCache } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { CephReports } from '../capabilities/ceph-drain/report/report.ts'
import type { HoldableBudget } from '../capabilities/drain-lock/observe/objects.ts'
import { createOsdUpdate } from '../capabilities/osd-update/controller/controller.ts'
import { parseOsdNode } from '../capabilities/osd-update/domain/parse-update-objects.ts'
import { observeLostOsds } from '../capabilities/osd-update/observe/observe-lost-osds.ts'
import { observeStatus } from '../ceph/observe-status.ts'
import type { CephPorts } from '../ceph/reader/ceph-ports.ts'
import type { RookPresence } from '../ceph/reader/rook-presence.ts'
import type { AppLockPolicy } from '../ledger/rules/app-lock.ts'
import type { StorageLedger } from '../ledger/store/storage-ledger.ts'
import { type CephTrust, namedNamespaces } from '../shared/ceph-trust/named-clusters.ts'
import { known } from '../shared/observed.ts'
import type { Metrics } from './metrics.ts'
import type { OnlyNamed } from './named-views.ts'
import { type Own, scopedBase, type ViewPorts, viewBase } from './shared-views.ts'

export interface OsdUpdateWiring extends ViewPorts {
  readonly own: Own
  readonly only: OnlyNamed
  readonly trust: CephTrust
  readonly ceph: CephPorts
  readonly reports: CephReports
  readonly metrics: Pick<Metrics, 'osdUpdate'>
  readonly rook: () => RookPresence
  readonly clusters: () => WatchView<CephCluster>
  readonly osdPods: () => WatchView<Pod>
  readonly budgets: () => WatchView<HoldableBudget>
  readonly appLocks: AppLockPolicy
  readonly ledger: () => StorageLedger | undefined
}

const timeoutMs = 15_000
const healthy: readonly string[] = ['HEALTH_OK', 'HEALTH_WARN']

export function osdUpdateControllers(wiring: OsdUpdateWiring): { readonly 'osd-update': () => Controller } {
  const { api, clock, own } = wiring
  return {
    'osd-update': () => {
      const ledger = wiring.ledger()
      return createOsdUpdate({
        api,
        clock,
        ceph: wiring.ceph,
        reports: { ...wiring.reports, update: wiring.metrics.osdUpdate },
        rook: wiring.rook(),
        appLocks: wiring.appLocks,
        observeLostOsds: (commands, osds, signal) => observeLostOsds(commands, osds, { timeoutMs, signal }),
        async observeHealth(commands, signal) {
          const status = await observeStatus(commands, { timeoutMs, signal })
          return status.known ? known(healthy.includes(status.value.health)) : status
        },
        views: {
          clusters: wiring.clusters(),
          osdPods: wiring.osdPods(),
          budgets: wiring.budgets(),
          osdDeployments: wiring.only.inNamespaces(
            own(
              'deployments/osd-update',
              createScopedCache({
                ...scopedBase(wiring, [...namedNamespaces(wiring.trust)]),
                type: deployments,
                labelSelector: 'app=rook-ceph-osd',
                project: withoutManagedFields,
                indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''] },
              }),
            ),
          ),
          nodes: own(
            'nodes/osd-update',
            createWatchCache({
              ...viewBase(wiring),
              type: nodes,
              project: parseOsdNode,
              indexes: { hostname: ({ hostname }) => [hostname] },
            }),
          ),
        },
        ...(ledger === undefined ? {} : { ledger }),
      })
    },
  }
}

/** Whole, for what is written back must lack nothing; the server keeps its own account of who wrote which field. */
function withoutManagedFields(deployment: Deployment): Deployment {
  const { managedFields: _, ...metadata } = deployment.metadata
  return { ...deployment, metadata }
}
