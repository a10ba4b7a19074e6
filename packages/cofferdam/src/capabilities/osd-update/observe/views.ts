import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { configMaps, deployments, jobs, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumeClaims } from '@cofferdam/kubernetes/api/storage.ts'
import { withoutManagedFields } from '@cofferdam/kubernetes/api/without-managed-fields.ts'
import type { Informers } from '@cofferdam/kubernetes/informers/informers.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import { type CephViews, unreadNamespace } from '../../../ceph/views/ceph-views.ts'
import { type CephTrust, growingNamespaces, namedNamespaces } from '../../../shared/ceph-trust/named-clusters.ts'
import { firstDaemonsSelector, parseCephDaemon } from '../domain/daemons-first.ts'
import { claimLabels } from '../domain/growth-places.ts'
import { prepareApp } from '../domain/growth-snapshot.ts'
import { parseOsdNode } from '../domain/parse-update-objects.ts'
import { type GrowthViews, slimGrowthNode } from './growth.ts'
import type { OsdUpdateViews } from './observe.ts'

export interface UpdateViewPorts {
  readonly informers: Informers
  readonly log: Log
  readonly trust: CephTrust
  readonly cephViews: CephViews
  /** Budgets of all namespaces, indexed by `namespace`. */
  readonly views: { readonly budgets: () => OsdUpdateViews['budgets'] }
}

const indexes = { namespace: ({ metadata }: KubeObject) => [metadata.namespace ?? ''] }

/** Everything that is read to bring OSDs to what their CephCluster says. */
export function openUpdateViews({ informers, log, trust, cephViews, views }: UpdateViewPorts): OsdUpdateViews {
  return {
    clusters: cephViews.clusters(),
    osdPods: cephViews.osdPods(),
    budgets: views.budgets(),
    osdDeployments: cephViews.only.inNamespaces(
      informers.openScoped('deployments/osd-update', {
        type: deployments,
        namespaces: [...namedNamespaces(trust)],
        labelSelector: 'app=rook-ceph-osd',
        // Whole but for that: what is written back must lack nothing.
        project: withoutManagedFields,
        indexes,
        onUnread: unreadNamespace(log),
      }),
    ),
    daemons: cephViews.only.inNamespaces(
      informers.openScoped('deployments/osd-update-daemons', {
        type: deployments,
        namespaces: [...namedNamespaces(trust)],
        labelSelector: firstDaemonsSelector,
        project: parseCephDaemon,
        indexes: { namespace: ({ metadata }) => [metadata.namespace] },
        onUnread: unreadNamespace(log),
      }),
    ),
    nodes: informers.open('nodes/osd-update', {
      type: nodes,
      project: parseOsdNode,
      indexes: { hostname: ({ hostname }) => [hostname] },
    }),
  }
}

/** Everything that is read to add OSDs. */
export function openGrowthViews({ informers, log, trust, cephViews }: Omit<UpdateViewPorts, 'views'>): GrowthViews {
  const labelled = <T extends KubeObject>(type: ResourceType<T>, labelSelector: string) =>
    cephViews.only.inNamespaces(
      informers.openScoped<T, T>(`${type.plural}/osd-growth`, {
        type,
        namespaces: [...growingNamespaces(trust)],
        labelSelector,
        project: withoutManagedFields,
        indexes,
        onUnread: unreadNamespace(log),
      }),
    )
  return {
    clusters: cephViews.clusters(),
    osdDeployments: cephViews.osdDeployments(),
    nodes: informers.open('nodes/osd-growth', { type: nodes, project: slimGrowthNode }),
    jobs: labelled(jobs, `app=${prepareApp}`),
    statuses: labelled(configMaps, 'app=rook-ceph-osd'),
    claims: labelled(persistentVolumeClaims, claimLabels.set),
  }
}
