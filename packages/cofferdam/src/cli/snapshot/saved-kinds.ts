import { validatingWebhookConfigurations } from '@cofferdam/kubernetes/api/admission-registration.ts'
import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { nodeClaims } from '@cofferdam/kubernetes/api/kinds/karpenter.ts'
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
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { Condition, KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ObjectKey, ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import {
  configMaps,
  daemonSets,
  deployments,
  leases,
  nodes,
  podDisruptionBudgets,
  pods,
} from '@cofferdam/kubernetes/api/resources.ts'
import {
  type PersistentVolume,
  persistentVolumes,
  type StorageClass,
  storageClasses,
} from '@cofferdam/kubernetes/api/storage.ts'
import { observedName, recordName } from '../../capabilities/ceph-drain/apply/record.ts'
import { longhornManagerSelector } from '../../capabilities/longhorn-drain/domain/longhorn-manager.ts'
import { slimCephCluster, slimDeployment } from '../../ceph/views/slim-objects.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { guardConfigurationName } from '../../eviction-guard/domain/webhook-configuration.ts'
import { closingFieldsOf } from '../../shared/closed-node.ts'
import { disruptionLedgers } from '../../shared/kinds/disruption-ledger.ts'
import { disruptionPolicies } from '../../shared/kinds/disruption-policy.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { kindName, type SavedKind } from './saved-cluster.ts'

/** A kind that is saved, and what of its objects. */
export interface SavedKindRule {
  readonly type: ResourceType
  readonly labelSelector?: string
  /** Only these objects: whoever may read them need not be allowed to list all. */
  readonly only?: (saved: readonly SavedKind[]) => readonly ObjectKey[]
  readonly slim: (object: KubeObject) => KubeObject
}

/** Everything that a plan and an explanation are made from. Secrets are not among it, nor environments, commands and settings of others. */
export function savedKindRules(leaseNamespace: string): readonly SavedKindRule[] {
  const rook =
    'rook-ceph-osd,rook-ceph-mon,rook-ceph-mgr,rook-ceph-mds,rook-ceph-nfs,rook-ceph-nvmeof,rook-ceph-operator'
  return [
    rule(nodes, (node) => slimNode(node)),
    rule(pods, slimPod),
    rule(podDisruptionBudgets, (budget) => ({ ...budget, metadata: slimMeta(budget, true) })),
    rule(nodeDisruptions),
    rule(disruptionLedgers),
    rule(disruptionPolicies),
    { ...rule(leases), only: () => [{ namespace: leaseNamespace, name: operatorAccount.name }] },
    { ...rule(validatingWebhookConfigurations, nameOnly), only: () => [{ name: guardConfigurationName }] },
    rule(cephClusters, (cluster) => slimCephCluster(cluster)),
    { ...rule(configMaps), only: cephRecords },
    { ...rule(deployments, slimDeployment), labelSelector: `app in (${rook})` },
    { ...rule(daemonSets, nameAndStatus), labelSelector: longhornManagerSelector },
    rule(longhornSettings, slimSetting),
    rule(longhornNodes),
    rule(longhornVolumes),
    rule(longhornReplicas),
    rule(longhornEngines),
    rule(longhornInstanceManagers),
    rule(longhornVolumeAttachments),
    rule(storageClasses, slimStorageClass),
    rule(persistentVolumes, slimPersistentVolume),
    rule(nodeClaims),
  ]
}

/** What the operator has recorded of each Ceph cluster. */
function cephRecords(saved: readonly SavedKind[]): readonly ObjectKey[] {
  const clusters = saved.find((kind) => kindName(kind) === kindName(cephClusters))?.items ?? []
  const namespaces = new Set(clusters.map(({ metadata }) => metadata.namespace ?? ''))
  return [...namespaces].flatMap((namespace) => [recordName, observedName].map((name) => ({ namespace, name })))
}

function rule<T extends KubeObject>(
  type: ResourceType<T>,
  slim: (object: T) => KubeObject = withSlimMeta,
): SavedKindRule {
  return { type, slim: slim as (object: KubeObject) => KubeObject }
}

function withSlimMeta<T extends KubeObject>(object: T): T {
  return { ...object, metadata: slimMeta(object) }
}

/** Annotations that something here reads. Others can hold whole manifests, and what people wrote into them. */
const keptAnnotations = [
  'cofferdam.io/',
  'kubernetes.io/config.mirror',
  'cluster-autoscaler.kubernetes.io/',
  'karpenter.sh/',
  'machine.openshift.io/',
  'machineconfiguration.openshift.io/',
  'cluster.x-k8s.io/',
  'osd.rook.io/',
  'longhorn.io/',
  'weave.works/',
]

/** `withWriters`: who wrote which field when, by which locks and cordons are dated. */
function slimMeta({ metadata }: KubeObject, withWriters = false): KubeObject['metadata'] {
  const { managedFields, annotations, ...kept } = metadata
  const own = Object.entries(annotations ?? {}).filter(([key]) =>
    keptAnnotations.some((start) => key.startsWith(start)),
  )
  return {
    ...kept,
    ...(own.length === 0 ? {} : { annotations: Object.fromEntries(own) }),
    ...(withWriters && managedFields !== undefined ? { managedFields } : {}),
  }
}

function slimNode(node: Node): KubeObject {
  const { providerID } = node.spec ?? {}
  const { conditions, nodeInfo } = node.status ?? {}
  const slim: Node = {
    ...node,
    metadata: slimMeta(node, true),
    spec: { ...closingFieldsOf({ spec: node.spec ?? {} }), ...(providerID && { providerID }) },
    status: { ...(conditions && { conditions }), ...(nodeInfo && { nodeInfo }) },
  }
  return slim
}

function slimPod(pod: Pod): KubeObject {
  const { nodeName, tolerations, volumes, terminationGracePeriodSeconds: grace } = pod.spec
  const { phase, conditions, containerStatuses } = pod.status ?? {}
  const kept = (volumes ?? [])
    .filter(({ emptyDir, persistentVolumeClaim }) => emptyDir !== undefined || persistentVolumeClaim !== undefined)
    .map(({ name, persistentVolumeClaim }) => ({
      name,
      ...(persistentVolumeClaim ? { persistentVolumeClaim } : { emptyDir: {} }),
    }))
  const slim = {
    apiVersion: pod.apiVersion,
    kind: pod.kind,
    metadata: slimMeta(pod),
    spec: {
      containers: [],
      ...(nodeName !== undefined && { nodeName }),
      ...(tolerations && { tolerations }),
      ...(kept.length > 0 && { volumes: kept }),
      ...(grace !== undefined && { terminationGracePeriodSeconds: grace }),
    },
    status: {
      ...(phase !== undefined && { phase }),
      ...(conditions && { conditions: conditions.map(withoutMessage) }),
      ...(containerStatuses && {
        containerStatuses: containerStatuses.map(({ name, ready, restartCount, state }) => {
          const reason = state?.waiting?.reason
          return { name, ready, restartCount, ...(reason === undefined ? {} : { state: { waiting: { reason } } }) }
        }),
      }),
    },
  }
  return slim
}

function withoutMessage(condition: Condition): Condition {
  const { message: _, ...kept } = condition
  return kept
}

function nameOnly({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  return {
    apiVersion,
    kind,
    metadata: { name: metadata.name, ...(metadata.uid === undefined ? {} : { uid: metadata.uid }) },
  }
}

function nameAndStatus(object: KubeObject & { readonly status?: object }): KubeObject {
  const { apiVersion, kind, status } = object
  return { apiVersion, kind, metadata: slimMeta(object), ...(status && { status }) } as KubeObject
}

/** Of settings whose values can be credentials or addresses, only the name. */
const privateSettings = /secret|credential|password|token|backup|registry|endpoint/u

function slimSetting(setting: LonghornSetting): KubeObject {
  const isPrivate = privateSettings.test(setting.metadata.name)
  return { ...setting, metadata: slimMeta(setting, true), ...(isPrivate && { value: '' }) } as KubeObject
}

function slimStorageClass(storageClass: StorageClass): KubeObject {
  const { parameters = {} } = storageClass
  const open = Object.entries(parameters).filter(([key]) => !key.includes('secret'))
  return { ...storageClass, metadata: slimMeta(storageClass), parameters: Object.fromEntries(open) } as KubeObject
}

function slimPersistentVolume({ apiVersion, kind, metadata, spec }: PersistentVolume): KubeObject {
  const { storageClassName, csi } = spec ?? {}
  const kept = {
    ...(storageClassName !== undefined && { storageClassName }),
    ...(csi?.volumeHandle !== undefined && { csi: { volumeHandle: csi.volumeHandle } }),
  }
  return { apiVersion, kind, metadata: { name: metadata.name }, spec: kept } as KubeObject
}
