import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import {
  clusterApiHealthChecks,
  clusterApiMachines,
  machineDisruptionBudgets,
  medik8sLeaseNamespace,
  nodeHealthChecks,
  olderClusterApiVersion,
  openshiftHealthChecks,
  openshiftMachines,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { leases, namespaces, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { withoutManagedFields } from '@cofferdam/kubernetes/api/without-managed-fields.ts'
import { filteredView } from '@cofferdam/kubernetes/informers/filtered-view.ts'
import type { Informers } from '@cofferdam/kubernetes/informers/informers.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import type { CephViews } from '../../../ceph/views/ceph-views.ts'
import type { OnlyNamed } from '../../../ceph/views/named-views.ts'
import { type CephTrust, isNamed, namedNamespaces, nameOf } from '../../../shared/ceph-trust/named-clusters.ts'
import { type NodeDisruption, nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { hostnameOf } from '../../../shared/node-hostnames.ts'
import { eitherVersion, type KindView, openKind } from '../../kind-view.ts'
import { isGuardedBefore } from '../domain/guarded-before.ts'
import { marks } from '../domain/marks.ts'
import { type FencingViews, slimFencedNode } from './observe.ts'

export interface FencingViewPorts {
  readonly informers: Informers
  readonly log: Log
  readonly trust: CephTrust
  readonly cephViews: Pick<CephViews, 'all' | 'daemonDeployments' | 'daemonPods'>
}

/** Everything that is read of machines, budgets and remediators, and of the Ceph clusters whose machines are managed. */
export function openFencingViews({ informers, log, trust, cephViews }: FencingViewPorts): FencingViews {
  function kind<T extends KubeObject>(
    type: ResourceType<T>,
    options: { readonly project?: (object: T) => T; readonly onAbsent?: () => void } = {},
  ): KindView<T> {
    const { project = withoutManagedFields } = options
    return openKind({ informers, log, reader: 'fencing' }, type, { ...options, project })
  }

  function clusterApiKind<T extends KubeObject>(newer: ResourceType<T>, project?: (object: T) => T): KindView<T> {
    const slim = project === undefined ? {} : { project }
    return eitherVersion(
      (onAbsent) => kind(newer, { ...slim, onAbsent }),
      () => kind({ ...newer, version: olderClusterApiVersion }, slim),
    )
  }

  const budgets = kind(machineDisruptionBudgets)
  const clusters = cephViews.all.clusters()
  const only = namedOrGuarded(trust, { clusters, budgets })
  return {
    clusters: only.clusters(clusters),
    osdDeployments: only.inNamespaces(cephViews.all.osdDeployments()),
    osdPods: only.inNamespaces(cephViews.all.osdPods()),
    monDeployments: only.inNamespaces(cephViews.daemonDeployments()),
    monPods: only.inNamespaces(cephViews.daemonPods()),
    nodes: informers.open('nodes/fencing', {
      type: nodes,
      project: slimFencedNode,
      indexes: { hostname: (node) => [hostnameOf(node)] },
    }),
    openshiftMachines: kind(openshiftMachines, { project: slimMachine }),
    clusterApiMachines: clusterApiKind(clusterApiMachines, slimMachine),
    budgets,
    openshiftHealthChecks: kind(openshiftHealthChecks),
    clusterApiHealthChecks: clusterApiKind(clusterApiHealthChecks),
    nodeHealthChecks: kind(nodeHealthChecks),
    requests: kind(nodeDisruptions, { project: slimRequest }),
    namespaces: informers.open('namespaces/fencing', {
      type: namespaces,
      project: ({ metadata: { name } }) => ({ name }),
    }),
    leases: informers.open('leases/medik8s', {
      type: leases,
      namespace: medik8sLeaseNamespace,
      project: withoutManagedFields,
    }),
  }
}

/**
 * Named clusters, and those that fencing has managed before: an operator that comes without their names, as after an upgrade,
 * must not free their machines. Without what ceph-drain decides, their budgets stay closed.
 */
function namedOrGuarded(
  trust: CephTrust,
  { clusters, budgets }: { readonly clusters: WatchView<CephCluster>; readonly budgets: WatchView<KubeObject> },
): OnlyNamed {
  const namespaces = namedNamespaces(trust)
  const isGuarded = (cluster: CephCluster) => isGuardedBefore(cluster, budgets.list())
  const isGuardedIn = (namespace: string) => clusters.byIndex('namespace', namespace).some(isGuarded)
  return {
    clusters: (view) => filteredView(view, (cluster) => isNamed(trust, nameOf(cluster)) || isGuarded(cluster)),
    inNamespaces: (view) =>
      filteredView(view, ({ metadata: { namespace = '' } }) => namespaces.has(namespace) || isGuardedIn(namespace)),
  }
}

/** What is waited for changes all the time, and says nothing about the reboot. */
function slimRequest({ apiVersion, kind, metadata, spec, status }: NodeDisruption): NodeDisruption {
  const { name, uid, resourceVersion, deletionTimestamp, annotations } = metadata
  const noted = annotations?.[marks.awaySince]
  const { phase, phaseSince, nodeUid, bootIDBefore } = status ?? {}
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(noted === undefined ? {} : { annotations: { [marks.awaySince]: noted } }),
    },
    spec,
    status: {
      ...(phase === undefined ? {} : { phase }),
      ...(phaseSince === undefined ? {} : { phaseSince }),
      ...(nodeUid === undefined ? {} : { nodeUid }),
      ...(bootIDBefore === undefined ? {} : { bootIDBefore }),
    },
  }
}

/** Its conditions change while it lives, and say nothing about storage. */
function slimMachine({ apiVersion, kind, metadata, spec, status }: Machine): Machine {
  const { managedFields: _, ...kept } = metadata
  const { providerID, lifecycleHooks } = spec ?? {}
  const { nodeRef } = status ?? {}
  const conditions = (status?.conditions ?? []).filter(({ type }) => type === 'OwnerRemediated')
  return {
    apiVersion,
    kind,
    metadata: kept,
    spec: {
      ...(providerID === undefined ? {} : { providerID }),
      ...(lifecycleHooks === undefined ? {} : { lifecycleHooks }),
    },
    status: {
      ...(nodeRef === undefined ? {} : { nodeRef }),
      ...(conditions.length === 0 ? {} : { conditions }),
    },
  }
}
