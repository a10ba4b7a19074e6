import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { defaultRookNamespace, rookOperatorSelector } from '@cofferdam/kubernetes/api/kinds/rook-operator.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { deployments, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { Informers } from '@cofferdam/kubernetes/informers/informers.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import { type CephTrust, namedNamespaces } from '../../shared/ceph-trust/named-clusters.ts'
import { once } from '../../shared/once.ts'
import { indexOfOsd } from '../../shared/parse-osd.ts'
import { type RookPresence, rookPresence } from '../reader/rook-presence.ts'
import { type OnlyNamed, onlyNamed } from './named-views.ts'
import { slimCephCluster, slimDeployment, slimPod, slimRookOperator } from './slim-objects.ts'

export interface CephViewPorts {
  readonly informers: Informers
  readonly log: Log
  readonly trust: CephTrust
  /** Where Rook's own operator may run, beside the namespaces of its clusters; `all`: wherever it is. */
  readonly rookNamespaces?: readonly string[] | 'all'
}

/**
 * What is seen of Ceph in Kubernetes, by whoever manages it. Each is opened once, when the first asks for it. All but `osdPods`
 * are indexed by `namespace`, and that by `osd`, as `indexOfOsd` says.
 */
export interface CephViews {
  readonly only: OnlyNamed
  /** Clusters that the administrator has named, and what is in their namespaces. */
  readonly clusters: () => WatchView<CephCluster>
  readonly osdDeployments: () => WatchView<Deployment>
  readonly osdPods: () => WatchView<Pod>
  /** The same with what strangers made. */
  readonly all: {
    readonly clusters: () => WatchView<CephCluster>
    readonly osdDeployments: () => WatchView<Deployment>
    readonly osdPods: () => WatchView<Pod>
  }
  /** Deployments of mons and mgrs. */
  readonly daemonDeployments: () => WatchView<Deployment>
  readonly daemonPods: () => WatchView<Pod>
  /** Deployments of MDS, NFS servers and NVMe-oF gateways. */
  readonly serviceDeployments: () => WatchView<Deployment>
  readonly servicePods: () => WatchView<Pod>
  /** Deployments of cephfs-mirror. */
  readonly mirrorDeployments: () => WatchView<Deployment>
  readonly rook: () => RookPresence
  /** Opens a kind of Rook that the cluster may not have. */
  rookKind<T extends KubeObject>(type: ResourceType<T>, project?: (object: T) => T): WatchView<T>
}

const monsAndMgrs = 'app in (rook-ceph-mon,rook-ceph-mgr)'
const services = 'app in (rook-ceph-mds,rook-ceph-nfs,rook-ceph-nvmeof)'
const mirrors = 'app=rook-ceph-fs-mirror'
/** Pods and Deployments of OSDs. */
export const osdSelector = 'app=rook-ceph-osd'

export function openCephViews({ informers, log, trust, ...ports }: CephViewPorts): CephViews {
  const { rookNamespaces = [defaultRookNamespace] } = ports
  const only = onlyNamed(trust)
  const cephNamespaces = [...namedNamespaces(trust)]
  const indexes = { namespace: ({ metadata }: KubeObject) => [metadata.namespace ?? ''] }
  const rookKind = <T extends KubeObject>(type: ResourceType<T>, project?: (object: T) => T) =>
    informers.openOptional<T, T>(type.plural, {
      type,
      indexes,
      ...(project !== undefined && { project }),
      onAbsent: () =>
        log.info({ resource: type.plural }, 'the cluster does not have this kind; checked again periodically'),
    })
  const daemons = (
    name: string,
    labelSelector: string,
    namespaces: readonly string[] | undefined,
    project = slimDeployment,
  ) =>
    once(() =>
      informers.openScoped(`deployments/${name}`, {
        type: deployments,
        namespaces,
        labelSelector,
        project,
        indexes,
        onUnread: unreadNamespace(log),
      }),
    )
  const all = {
    clusters: once(() => rookKind(cephClusters, slimCephCluster)),
    osdDeployments: daemons('osd', osdSelector, cephNamespaces),
    osdPods: once(() =>
      informers.open('pods/osd', {
        type: pods,
        labelSelector: osdSelector,
        project: slimPod,
        indexes: { osd: indexOfOsd },
      }),
    ),
  }
  const operators = daemons(
    'rook',
    rookOperatorSelector,
    rookNamespaces === 'all' ? undefined : [...cephNamespaces, ...rookNamespaces],
    slimRookOperator,
  )
  const osdDeployments = once(() => only.inNamespaces(all.osdDeployments()))
  return {
    only,
    all,
    clusters: once(() => only.clusters(all.clusters())),
    osdDeployments,
    osdPods: once(() => only.inNamespaces(all.osdPods())),
    daemonDeployments: daemons('mon', monsAndMgrs, cephNamespaces),
    daemonPods: once(() =>
      informers.open('pods/mon', { type: pods, labelSelector: monsAndMgrs, project: slimPod, indexes }),
    ),
    serviceDeployments: daemons('services', services, cephNamespaces),
    servicePods: once(() =>
      informers.open('pods/services', { type: pods, labelSelector: services, project: slimPod, indexes }),
    ),
    mirrorDeployments: daemons('fs-mirror', mirrors, cephNamespaces),
    rook: once(() => rookPresence(operators(), { trust, osds: osdDeployments })),
    rookKind,
  }
}

/** Says what to do about a namespace of a named cluster that may not be read. */
export function unreadNamespace(log: Log): (namespace: string, error: Error) => void {
  return (namespace, error) =>
    log.warn(
      { namespace, error: error.message },
      'this namespace cannot be read: apply deploy/ceph there, or do not name a cluster in it',
    )
}
