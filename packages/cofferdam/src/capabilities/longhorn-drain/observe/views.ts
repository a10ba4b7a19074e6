import type { DaemonSet, Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import {
  type LonghornSetting,
  longhornEngines,
  longhornInstanceManagers,
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
import { withoutManagedFields } from '@cofferdam/kubernetes/api/without-managed-fields.ts'
import type { Informers } from '@cofferdam/kubernetes/informers/informers.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import { closingFieldsOf } from '../../../shared/closed-node.ts'
import { cordonedByAnnotation, cordonMarkOf } from '../../../shared/cordon-mark.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { SelectingDeployment } from '../domain/budget-object.ts'
import { type LonghornManagerPod, longhornManagerSelector } from '../domain/longhorn-manager.ts'
import { drainPolicySetting } from '../domain/policy.ts'
import type { LonghornViews } from './observe.ts'
import {
  slimAttachment,
  slimEngine,
  slimInstanceManager,
  slimLonghornNode,
  slimReplica,
  slimVolume,
} from './slim-longhorn.ts'

export interface LonghornViewPorts {
  readonly informers: Informers
  readonly log: Log
  readonly views: {
    readonly disruptions: () => WatchView<NodeDisruption>
    /** Indexed by `namespace`. */
    readonly plainBudgets: () => WatchView<PodDisruptionBudget>
  }
}

/** Everything that is read of Longhorn, and of the cluster around it. */
export function openLonghornViews({ informers, log, views }: LonghornViewPorts): LonghornViews {
  const managers = { labelSelector: longhornManagerSelector }
  const longhornKind = <T extends KubeObject>(type: ResourceType<T>, project: (object: T) => T) =>
    informers.openOptional<T, T>(`longhorn/${type.plural}`, {
      type,
      project,
      onAbsent: () =>
        log.info({ resource: type.plural }, 'the cluster does not have this kind; checked again periodically'),
    })
  return {
    settings: longhornKind(longhornSettings, slimSetting),
    nodes: longhornKind(longhornNodes, slimLonghornNode),
    volumes: longhornKind(longhornVolumes, slimVolume),
    replicas: longhornKind(longhornReplicas, slimReplica),
    engines: longhornKind(longhornEngines, slimEngine),
    instanceManagers: longhornKind(longhornInstanceManagers, slimInstanceManager),
    attachments: longhornKind(longhornVolumeAttachments, slimAttachment),
    budgets: views.plainBudgets(),
    disruptions: views.disruptions(),
    managerSets: informers.open('longhorn/daemonsets', { ...managers, type: daemonSets, project: slimManagerSet }),
    managerPods: informers.open('longhorn/pods', { ...managers, type: pods, project: slimManagerPod }),
    kubeNodes: informers.open('nodes/longhorn', { type: nodes, project: slimNode }),
    storageClasses: informers.open('storageclasses', { type: storageClasses, project: slimStorageClass }),
    persistentVolumes: informers.open('persistentvolumes', { type: persistentVolumes, project: slimPersistentVolume }),
  }
}

/** Opens the view of a namespace. */
export type LonghornDeploymentViews = (namespace: string) => WatchView<SelectingDeployment>

/**
 * What budgets of the CSI sidecars select by. Opened in the namespace where Longhorn is found, once: the right to read Deployments is
 * granted there and nowhere else.
 */
export function createLonghornDeploymentViews(ports: LonghornViewPorts): LonghornDeploymentViews {
  const opened = new Map<string, WatchView<SelectingDeployment>>()
  return (namespace) => {
    const before = opened.get(namespace)
    if (before !== undefined) return before
    const view = openDeployments(ports, namespace)
    opened.set(namespace, view)
    return view
  }
}

function openDeployments({ informers, log }: LonghornViewPorts, place: string): WatchView<SelectingDeployment> {
  return informers.openScoped(`longhorn/deployments/${place}`, {
    type: deployments,
    namespaces: [place],
    project: slimDeployment,
    indexes: { namespace: () => [place] },
    onUnread: (namespace, error) =>
      log.info(
        { namespace, error: error.message },
        "Longhorn's Deployments cannot be read: apply deploy/longhorn where Cofferdam has to manage drains of Longhorn",
      ),
  })
}

function slimManagerSet({ metadata, status }: DaemonSet): Pick<DaemonSet, 'metadata' | 'status'> {
  const { name, namespace = '', generation } = metadata
  return {
    metadata: { name, namespace, ...(generation === undefined ? {} : { generation }) },
    ...(status === undefined ? {} : { status }),
  }
}

function slimManagerPod({ metadata, spec, status }: Pod): LonghornManagerPod {
  const { name, namespace = '', deletionTimestamp } = metadata
  const { nodeName } = spec
  const { phase, conditions = [] } = status ?? {}
  const ready = conditions.filter(({ type }) => type === 'Ready').map(({ type, status: is }) => ({ type, status: is }))
  return {
    metadata: { name, namespace, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
    spec: nodeName === undefined ? {} : { nodeName },
    status: { ...(phase === undefined ? {} : { phase }), conditions: ready },
  }
}

/** Of the setting that decides drains, since when it has its value. */
function slimSetting(setting: LonghornSetting): LonghornSetting {
  return setting.metadata.name === drainPolicySetting ? setting : withoutManagedFields(setting)
}

/** Without the heartbeats. */
function slimNode({ apiVersion, kind, metadata, spec, status }: Node): Node {
  const mark = cordonMarkOf({ metadata })
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
    metadata: {
      name: metadata.name,
      ...(metadata.uid === undefined ? {} : { uid: metadata.uid }),
      ...(mark === '' ? {} : { annotations: { [cordonedByAnnotation]: mark } }),
    },
    spec: closingFieldsOf({ spec: spec ?? {} }),
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
