import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import {
  clusterApiHealthChecks,
  clusterApiMachines,
  type Machine,
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
import { createOptionalCache } from '@cofferdam/kubernetes/informers/optional-cache.ts'
import { createWatchCache } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { CephDecisions } from '../capabilities/ceph-drain/controller/decisions.ts'
import { createFencing, type FencingLedger } from '../capabilities/fencing/controller/controller.ts'
import { parseFencingSettings } from '../capabilities/fencing/domain/settings.ts'
import { evidenceCalmMs } from '../capabilities/fencing/observe/evidence.ts'
import { type KindView, slimFencedNode } from '../capabilities/fencing/observe/observe.ts'
import type { CephTrust } from '../shared/ceph-trust/named-clusters.ts'
import { hostnameOf } from '../shared/node-hostnames.ts'
import { createEventRecorder } from './event-recorder.ts'
import type { Metrics } from './metrics.ts'
import { namedOrGuarded } from './named-views.ts'
import { type Own, once, type ViewPorts, viewBase } from './shared-views.ts'

export interface FencingWiring extends ViewPorts {
  readonly own: Own
  readonly metrics: Metrics
  readonly trust: CephTrust
  /** Of everybody: which count is decided here. */
  readonly clusters: () => WatchView<CephCluster>
  readonly osdDeployments: () => WatchView<Deployment>
  readonly osdPods: () => WatchView<Pod>
  /** Of monitors, among others. */
  readonly monDeployments: () => WatchView<Deployment>
  readonly monPods: () => WatchView<Pod>
  readonly decisions: CephDecisions | undefined
  readonly ledger: () => FencingLedger | undefined
}

/** What ceph-drain does for fencing: it looks often enough, and also at clusters whose pod budgets are not ours. */
export const evidenceForFencing = {
  calmMs: evidenceCalmMs,
  isLookWanted: (cluster: CephCluster) => parseFencingSettings(cluster).isManaged,
}

export function fencingControllers(wiring: FencingWiring): { readonly fencing: () => Controller } {
  const { api, clock, log, own, metrics } = wiring
  const base = viewBase(wiring)

  function kind<T extends KubeObject>(
    type: ResourceType<T>,
    options: { readonly project?: (object: T) => T; readonly onAbsent?: () => void } = {},
  ): KindView<T> {
    const { project = withoutManagedFields } = options
    const onAbsent = () => {
      log.info({ resource: `${type.plural}.${type.group}/${type.version}` }, 'the cluster has no such kind')
      options.onAbsent?.()
    }
    const cache = own(
      `fencing/${type.plural}.${type.group}/${type.version}`,
      createOptionalCache<T, T>({ ...base, type, project, onAbsent }),
    )
    return withType(cache, () => type)
  }

  function clusterApiKind<T extends KubeObject>(newer: ResourceType<T>, project?: (object: T) => T): KindView<T> {
    const slim = project === undefined ? {} : { project }
    return eitherVersion(
      (onAbsent) => kind(newer, { ...slim, onAbsent }),
      () => kind({ ...newer, version: olderClusterApiVersion }, slim),
    )
  }

  return {
    fencing: () => {
      const clusters = wiring.clusters()
      const budgets = once(() => kind(machineDisruptionBudgets))
      const only = namedOrGuarded(wiring.trust, { clusters, budgets })
      return createFencing({
        api,
        clock,
        decisions: wiring.decisions,
        ledger: wiring.ledger(),
        reports: {
          events: createEventRecorder(wiring),
          show: (decision, seen) => metrics.fencing.show(decision, seen),
        },
        views: {
          clusters: only.clusters(clusters),
          osdDeployments: only.inNamespaces(wiring.osdDeployments()),
          osdPods: only.inNamespaces(wiring.osdPods()),
          monDeployments: only.inNamespaces(wiring.monDeployments()),
          monPods: only.inNamespaces(wiring.monPods()),
          nodes: own(
            'nodes/fencing',
            createWatchCache({
              ...base,
              type: nodes,
              project: slimFencedNode,
              indexes: { hostname: (node) => [hostnameOf(node)] },
            }),
          ),
          openshiftMachines: kind(openshiftMachines, { project: slimMachine }),
          clusterApiMachines: clusterApiKind(clusterApiMachines, slimMachine),
          budgets: budgets(),
          openshiftHealthChecks: kind(openshiftHealthChecks),
          clusterApiHealthChecks: clusterApiKind(clusterApiHealthChecks),
          nodeHealthChecks: kind(nodeHealthChecks),
          namespaces: own(
            'namespaces/fencing',
            createWatchCache({ ...base, type: namespaces, project: ({ metadata: { name } }) => ({ name }) }),
          ),
          leases: own(
            'leases/medik8s',
            createWatchCache({
              ...base,
              type: leases,
              namespace: medik8sLeaseNamespace,
              project: withoutManagedFields,
            }),
          ),
        },
      })
    },
  }
}

function withType<T extends KubeObject>(
  view: WatchView<T> & { isServed(): boolean },
  type: () => ResourceType<T>,
): KindView<T> {
  return {
    type,
    isServed: () => view.isServed(),
    get synced() {
      return view.synced
    },
    whenSynced: (signal) => view.whenSynced(signal),
    get: (key) => view.get(key),
    list: () => view.list(),
    byIndex: (index, value) => view.byIndex(index, value),
    subscribe: (listener) => view.subscribe(listener),
    ageMs: () => view.ageMs(),
    whenSeen: (version, signal) => view.whenSeen(version, signal),
  }
}

/** The newer version where the server knows it, else the older one, which is opened only then. */
function eitherVersion<T extends KubeObject>(
  openNewer: (onAbsent: () => void) => KindView<T>,
  openOlder: () => KindView<T>,
): KindView<T> {
  const listeners = new Set<(change: ViewChange<T>) => void>()
  let older: KindView<T> | undefined
  const tell = (from: () => KindView<T> | undefined) => (change: ViewChange<T>) => {
    if (current() === from()) for (const listener of listeners) listener(change)
  }
  const newer = openNewer(() => void olderView())
  newer.subscribe(tell(() => newer))
  function olderView(): KindView<T> {
    if (older === undefined) {
      older = openOlder()
      older.subscribe(tell(() => older))
    }
    return older
  }
  function current(): KindView<T> {
    return newer.isServed() ? newer : (older ?? newer)
  }
  const view = withType(
    {
      isServed: () => current().isServed(),
      get synced() {
        return newer.isServed() || (newer.synced && older?.synced === true)
      },
      async whenSynced(signal) {
        await newer.whenSynced(signal)
        if (!newer.isServed()) await olderView().whenSynced(signal)
      },
      get: (key) => current().get(key),
      list: () => current().list(),
      byIndex: (index, value) => current().byIndex(index, value),
      subscribe(listener) {
        const own = (change: ViewChange<T>) => listener(change)
        listeners.add(own)
        return () => listeners.delete(own)
      },
      ageMs: () => current().ageMs(),
      whenSeen: (version, signal) => current().whenSeen(version, signal),
    },
    () => current().type(),
  )
  return view
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
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
