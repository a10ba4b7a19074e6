import type { DaemonSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import {
  type LonghornEngine,
  type LonghornInstanceManager,
  type LonghornNode,
  type LonghornReplica,
  type LonghornSetting,
  type LonghornVolume,
  type LonghornVolumeAttachment,
  longhornEngines,
  longhornInstanceManagers,
  longhornNamespace,
  longhornNodes,
  longhornReplicas,
  longhornSettings,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { daemonSets, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { PersistentVolume, StorageClass } from '@cofferdam/kubernetes/api/storage.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import { type LonghornManagerPod, longhornManagerSelector } from '../domain/longhorn-manager.ts'
import { longhornPlaces, placeOfLonghorn } from '../domain/longhorn-place.ts'
import type { LonghornObjects } from '../domain/parse-longhorn.ts'
import { drainPolicySetting } from '../domain/policy.ts'

/** What is read, of all namespaces: where Longhorn is shows only then. Budgets are indexed by `namespace`. */
export interface LonghornViews {
  readonly settings: WatchView<LonghornSetting>
  readonly nodes: WatchView<LonghornNode>
  readonly volumes: WatchView<LonghornVolume>
  readonly replicas: WatchView<LonghornReplica>
  readonly engines: WatchView<LonghornEngine>
  readonly instanceManagers: WatchView<LonghornInstanceManager>
  readonly attachments: WatchView<LonghornVolumeAttachment>
  readonly kubeNodes: WatchView<Node>
  readonly budgets: WatchView<PodDisruptionBudget>
  readonly disruptions: WatchView<NodeDisruption>
  readonly storageClasses: WatchView<StorageClass>
  readonly persistentVolumes: WatchView<PersistentVolume>
  /** DaemonSets of Longhorn's own manager. */
  readonly managerSets: WatchView<Pick<DaemonSet, 'metadata' | 'status'>>
  readonly managerPods: WatchView<LonghornManagerPod>
}

/** All of the one Longhorn, in the namespace where it is found; nothing of it where there is none. Unknown where it is in several. */
export function observeLonghorn(views: LonghornViews, nowMs: number): Observed<LonghornObjects> {
  const place = placeOfLonghorn(observePlaces(views))
  return place.known ? known(observeIn(place.value ?? longhornNamespace, views, nowMs)) : place
}

/** The namespaces in which a Longhorn shows. */
export function observePlaces(views: LonghornViews): readonly string[] {
  const { settings, nodes, instanceManagers, volumes, replicas, engines, budgets } = views
  return longhornPlaces({
    settings: settings.list(),
    nodes: nodes.list(),
    instanceManagers: instanceManagers.list(),
    volumes: volumes.list(),
    replicas: replicas.list(),
    engines: engines.list(),
    budgets: budgets.list(),
  })
}

function observeIn(namespace: string, views: LonghornViews, nowMs: number): LonghornObjects {
  const here = <T extends Pick<KubeObject, 'metadata'>>(view: WatchView<T>): T[] =>
    [...view.list()].filter(({ metadata }) => metadata.namespace === namespace)
  return {
    namespace,
    nowMs,
    settings: here(views.settings),
    nodes: here(views.nodes),
    volumes: here(views.volumes),
    replicas: here(views.replicas),
    engines: here(views.engines),
    instanceManagers: here(views.instanceManagers),
    attachments: here(views.attachments),
    kubeNodes: [...views.kubeNodes.list()],
    budgets: views.budgets.byIndex('namespace', namespace),
    disruptions: [...views.disruptions.list()],
    storageClasses: [...views.storageClasses.list()],
    persistentVolumes: [...views.persistentVolumes.list()],
    managerSets: views.managerSets.synced ? here(views.managerSets) : undefined,
    managerPods: views.managerPods.synced ? here(views.managerPods) : undefined,
  }
}

/** Views without which nothing can be said of any node, and that may not be read. */
export function unreadViews(views: LonghornViews): string[] {
  const { settings, nodes, volumes, replicas, instanceManagers, kubeNodes, budgets } = views
  return Object.entries({ settings, nodes, volumes, replicas, instanceManagers, kubeNodes, budgets })
    .filter(([, view]) => !view.synced)
    .map(([name]) => name)
}

/**
 * The same, with everything that protects a copy read from the server now.
 *
 * Fails closed: what cannot be listed throws, so that nothing is let go for want of an answer.
 */
export async function observeLonghornAfresh(
  api: Pick<KubeApi, 'list'>,
  seen: LonghornObjects,
  signal: AbortSignal,
): Promise<LonghornObjects> {
  const here = async <T extends KubeObject>(type: ResourceType<T>, labelSelector?: string) => {
    const selected = labelSelector === undefined ? {} : { labelSelector }
    return (await api.list(type, { namespace: seen.namespace, ...selected, signal })).items
  }
  return {
    ...seen,
    settings: await here(longhornSettings),
    kubeNodes: (await api.list(nodes, { signal })).items,
    nodes: await here(longhornNodes),
    instanceManagers: await here(longhornInstanceManagers),
    volumes: await here(longhornVolumes),
    replicas: await here(longhornReplicas),
    engines: await here(longhornEngines),
    budgets: await here(podDisruptionBudgets),
    managerSets: await here(daemonSets, longhornManagerSelector),
    managerPods: await here(pods, longhornManagerSelector),
  }
}

export function drainSetting(settings: readonly LonghornSetting[]): LonghornSetting | undefined {
  return settings.find(({ metadata }) => metadata.name === drainPolicySetting)
}
