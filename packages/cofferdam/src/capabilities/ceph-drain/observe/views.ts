import {
  cephFilesystemMirrors,
  cephFilesystems,
  cephNfses,
  cephNvmeofGateways,
  cephObjectStores,
  cephRbdMirrors,
} from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { Informers } from '@cofferdam/kubernetes/informers/informers.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { CephViews } from '../../../ceph/views/ceph-views.ts'
import { once } from '../../../shared/once.ts'
import { parseNode } from '../domain/cluster-objects.ts'
import type { CephDrainViews } from './observe.ts'
import type { StaticBudgetViews } from './static-budgets.ts'

export interface CephDrainViewPorts {
  readonly informers: Informers
  readonly cephViews: CephViews
  readonly views: {
    /** Budgets of all namespaces, indexed by `namespace`. */
    readonly plainBudgets: () => WatchView<PodDisruptionBudget>
  }
}

/** Everything that is read for the budgets of Ceph daemons. Each is opened when the first asks for it. */
export function openCephDrainViews({ informers, cephViews, views }: CephDrainViewPorts) {
  const drain = once(
    (): CephDrainViews => ({
      clusters: cephViews.clusters(),
      budgets: views.plainBudgets(),
      nodes: informers.open('nodes/ceph', {
        type: nodes,
        project: parseNode,
        indexes: { hostname: ({ hostname }) => [hostname] },
      }),
      osdDeployments: cephViews.osdDeployments(),
      osdPods: cephViews.osdPods(),
      daemonDeployments: cephViews.daemonDeployments(),
      daemonPods: cephViews.daemonPods(),
      serviceDeployments: cephViews.serviceDeployments(),
      servicePods: cephViews.servicePods(),
    }),
  )
  const staticBudgets = once(
    (): StaticBudgetViews => ({
      clusters: cephViews.clusters(),
      budgets: views.plainBudgets(),
      filesystems: cephViews.rookKind(cephFilesystems),
      objectStores: cephViews.rookKind(cephObjectStores),
      rbdMirrors: cephViews.rookKind(cephRbdMirrors),
      nfs: cephViews.rookKind(cephNfses),
      nvmeof: cephViews.rookKind(cephNvmeofGateways),
      filesystemMirrors: cephViews.rookKind(cephFilesystemMirrors),
      mirrorDaemons: cephViews.mirrorDeployments(),
      daemons: cephViews.daemonDeployments(),
    }),
  )
  return { drain, staticBudgets }
}
