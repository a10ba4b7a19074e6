import { createHash } from 'node:crypto'
import type { DaemonSet, Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import {
  longhornEngines,
  longhornInstanceManagers,
  longhornNamespace,
  longhornNodes,
  longhornReplicas,
  longhornSettings,
  longhornVolumeAttachments,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { daemonSets, deployments, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import {
  type PersistentVolume,
  persistentVolumes,
  type StorageClass,
  storageClasses,
} from '@cofferdam/kubernetes/api/storage.ts'
import { applyBudgets } from '@cofferdam/kubernetes/client/apply-budgets.ts'
import { createOptionalCache } from '@cofferdam/kubernetes/informers/optional-cache.ts'
import { createScopedCache } from '@cofferdam/kubernetes/informers/scoped-cache.ts'
import { createWatchCache } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import { createLonghornDrain } from '../capabilities/longhorn-drain/controller/controller.ts'
import type { SelectingDeployment } from '../capabilities/longhorn-drain/domain/budget-object.ts'
import { longhornManagerSelector } from '../capabilities/longhorn-drain/domain/longhorn-manager.ts'
import type { LonghornViews } from '../capabilities/longhorn-drain/observe/observe.ts'
import { createEventRecorder } from './event-recorder.ts'
import type { Metrics } from './metrics.ts'
import { type Own, once, type SharedViews, type ViewPorts, viewBase } from './shared-views.ts'

export interface LonghornWiring extends ViewPorts {
  readonly own: Own
  readonly views: Pick<SharedViews, 'disruptions'>
  /** Indexed by `namespace`. */
  readonly budgets: () => WatchView<PodDisruptionBudget>
}

/** Opened when the first asks for them. */
export function openLonghornViews(wiring: LonghornWiring): () => LonghornViews {
  const { log, own } = wiring
  const base = viewBase(wiring)
  const managers = { ...base, namespace: longhornNamespace, labelSelector: longhornManagerSelector }
  const longhornKind = <T extends KubeObject>(type: ResourceType<T>) =>
    own(
      `longhorn/${type.plural}`,
      createOptionalCache<T, T>({
        ...base,
        type,
        namespace: longhornNamespace,
        project: withoutManagedFields,
        onAbsent: () =>
          log.info({ resource: type.plural }, 'the cluster has no such kind; it is asked again now and then'),
      }),
    )
  return once(() => ({
    settings: longhornKind(longhornSettings),
    nodes: longhornKind(longhornNodes),
    volumes: longhornKind(longhornVolumes),
    replicas: longhornKind(longhornReplicas),
    engines: longhornKind(longhornEngines),
    instanceManagers: longhornKind(longhornInstanceManagers),
    attachments: longhornKind(longhornVolumeAttachments),
    budgets: wiring.budgets(),
    disruptions: wiring.views.disruptions(),
    managerSets: own(
      'longhorn/daemonsets',
      createWatchCache({ ...managers, type: daemonSets, project: slimManagerSet }),
    ),
    managerPods: own('longhorn/pods', createWatchCache({ ...managers, type: pods, project: slimManagerPod })),
    kubeNodes: own('nodes/longhorn', createWatchCache({ ...base, type: nodes, project: slimNode })),
    storageClasses: own(
      'storageclasses',
      createWatchCache({ ...base, type: storageClasses, project: slimStorageClass }),
    ),
    persistentVolumes: own(
      'persistentvolumes',
      createWatchCache({ ...base, type: persistentVolumes, project: slimPersistentVolume }),
    ),
  }))
}

export function longhornControllers(
  wiring: ViewPorts & { readonly own: Own; readonly metrics: Metrics },
  views: () => LonghornViews,
): { readonly 'longhorn-drain': () => Controller } {
  const { api, clock, metrics } = wiring
  return {
    'longhorn-drain': () =>
      createLonghornDrain({
        api,
        clock,
        sha512Hex: (text) => createHash('sha512').update(text).digest('hex'),
        reports: {
          events: createEventRecorder(wiring),
          show: (figures) => metrics.longhorn.show(figures),
          countEviction: (reason) => metrics.longhorn.countEviction(reason),
          countReverted: (kind) => metrics.longhorn.countReverted(kind),
        },
        async applyBudgets(writes, signal) {
          const version = await applyBudgets(api, writes, signal)
          for (const { verb } of writes) metrics.longhorn.countBudget(verb)
          return version
        },
        views: {
          ...views(),
          deployments: wiring.own(
            'longhorn/deployments',
            createScopedCache({
              ...viewBase(wiring),
              type: deployments,
              namespaces: [longhornNamespace],
              project: slimDeployment,
              indexes: { namespace: () => [longhornNamespace] },
              onUnread: (namespace, error) =>
                wiring.log.info(
                  { namespace, error: error.message },
                  "Longhorn's Deployments cannot be read: apply deploy/longhorn where drains of Longhorn are to be decided here",
                ),
            }),
          ),
        },
      }),
  }
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

function slimManagerSet({ metadata, status }: DaemonSet): Pick<DaemonSet, 'metadata' | 'status'> {
  const { name, generation } = metadata
  return {
    metadata: { name, ...(generation === undefined ? {} : { generation }) },
    ...(status === undefined ? {} : { status }),
  }
}

function slimManagerPod({ metadata, status }: Pod): Pick<Pod, 'metadata' | 'status'> {
  const { phase } = status ?? {}
  return { metadata: { name: metadata.name }, ...(phase === undefined ? {} : { status: { phase } }) }
}

/** Without the heartbeats. */
function slimNode({ apiVersion, kind, metadata, spec, status }: Node): Node {
  const { unschedulable, taints } = spec ?? {}
  const conditions = (status?.conditions ?? [])
    .filter(({ type }) => type === 'Ready' || type === 'DrainInProgress')
    .map(({ type, status: value, lastTransitionTime }) => ({
      type,
      status: value,
      ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
    }))
  return {
    apiVersion,
    kind,
    metadata: { name: metadata.name },
    spec: {
      ...(unschedulable === undefined ? {} : { unschedulable }),
      ...(taints === undefined ? {} : { taints }),
    },
    status: { conditions },
  }
}

function slimDeployment({ apiVersion, kind, metadata, spec }: Deployment): SelectingDeployment {
  const { name, namespace } = metadata
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    spec: { selector: spec.selector },
  }
}

function slimStorageClass({ apiVersion, kind, metadata, parameters }: StorageClass): StorageClass {
  return { apiVersion, kind, metadata: { name: metadata.name }, ...(parameters === undefined ? {} : { parameters }) }
}

function slimPersistentVolume({ apiVersion, kind, metadata, spec }: PersistentVolume): PersistentVolume {
  const { storageClassName, csi } = spec ?? {}
  return {
    apiVersion,
    kind,
    metadata: { name: metadata.name },
    spec: {
      ...(storageClassName === undefined ? {} : { storageClassName }),
      ...(csi?.volumeHandle === undefined ? {} : { csi: { volumeHandle: csi.volumeHandle } }),
    },
  }
}
