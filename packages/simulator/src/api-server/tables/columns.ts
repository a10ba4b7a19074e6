import type { ConfigMap, Lease, Namespace, Secret } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { TableColumn } from '../resource-definition.ts'
import { roleBindingColumns } from './access-columns.ts'
import { ageColumn, booleanColumn, column, createdAtColumn, integerColumn, nameColumn } from './column.ts'
import { eventColumns } from './event-columns.ts'
import { endpointSliceColumns, endpointsColumns, serviceColumns } from './network-columns.ts'
import { nodeColumns } from './node-columns.ts'
import { podColumns, podTemplateColumns } from './pod-columns.ts'
import {
  csiDriverColumns,
  csiNodeColumns,
  persistentVolumeClaimColumns,
  persistentVolumeColumns,
  storageClassColumns,
  volumeAttachmentColumns,
} from './storage-columns.ts'
import {
  controllerRevisionColumns,
  cronJobColumns,
  daemonSetColumns,
  deploymentColumns,
  jobColumns,
  podDisruptionBudgetColumns,
  replicaSetColumns,
  replicationControllerColumns,
  scaleColumns,
  statefulSetColumns,
} from './workload-columns.ts'

const nameAndAge: readonly TableColumn[] = [nameColumn, ageColumn]
const nameAndCreation: readonly TableColumn[] = [nameColumn, createdAtColumn]

const namespaceColumns: readonly TableColumn[] = [
  nameColumn,
  column<Namespace>('Status', ({ status }) => status?.phase ?? ''),
  ageColumn,
]

const configMapColumns: readonly TableColumn[] = [
  nameColumn,
  column<ConfigMap>('Data', ({ data, binaryData }) => size(data) + size(binaryData)),
  ageColumn,
]

const secretColumns: readonly TableColumn[] = [
  nameColumn,
  column<Secret>('Type', ({ type }) => type ?? 'Opaque'),
  column<Secret>('Data', ({ data }) => size(data)),
  ageColumn,
]

const leaseColumns: readonly TableColumn[] = [
  nameColumn,
  column<Lease>('Holder', ({ spec }) => spec?.holderIdentity ?? ''),
  ageColumn,
]

interface ResourceQuota extends KubeObject {
  readonly status?: {
    readonly hard?: Readonly<Record<string, string>>
    readonly used?: Readonly<Record<string, string>>
  }
}

const resourceQuotaColumns: readonly TableColumn[] = [
  nameColumn,
  column<ResourceQuota>('Request', (quota) => quotaText(quota, (resource) => !resource.startsWith('limits.'))),
  column<ResourceQuota>('Limit', (quota) => quotaText(quota, (resource) => resource.startsWith('limits.'))),
  ageColumn,
]

interface PriorityClass extends KubeObject {
  readonly value: number
  readonly globalDefault?: boolean
  readonly preemptionPolicy?: string
}

const priorityClassColumns: readonly TableColumn[] = [
  nameColumn,
  integerColumn<PriorityClass>('Value', ({ value }) => value),
  booleanColumn<PriorityClass>('Global-Default', ({ globalDefault }) => globalDefault ?? false),
  ageColumn,
  column<PriorityClass>('PreemptionPolicy', ({ preemptionPolicy }) => preemptionPolicy ?? ''),
]

const webhookColumns: readonly TableColumn[] = [
  nameColumn,
  integerColumn<KubeObject & { readonly webhooks?: readonly unknown[] }>(
    'Webhooks',
    ({ webhooks }) => webhooks?.length,
  ),
  ageColumn,
]

const columnsByKind: Readonly<Record<string, readonly TableColumn[]>> = {
  '/ConfigMap': configMapColumns,
  '/Endpoints': endpointsColumns,
  '/Event': eventColumns,
  '/LimitRange': nameAndCreation,
  '/Namespace': namespaceColumns,
  '/Node': nodeColumns,
  '/PersistentVolume': persistentVolumeColumns,
  '/PersistentVolumeClaim': persistentVolumeClaimColumns,
  '/Pod': podColumns,
  '/PodTemplate': podTemplateColumns,
  '/ReplicationController': replicationControllerColumns,
  '/ResourceQuota': resourceQuotaColumns,
  '/Secret': secretColumns,
  '/Service': serviceColumns,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhookColumns,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhookColumns,
  'apiextensions.k8s.io/CustomResourceDefinition': nameAndCreation,
  'apps/ControllerRevision': controllerRevisionColumns,
  'apps/DaemonSet': daemonSetColumns,
  'apps/Deployment': deploymentColumns,
  'apps/ReplicaSet': replicaSetColumns,
  'apps/StatefulSet': statefulSetColumns,
  'autoscaling/Scale': scaleColumns,
  'batch/CronJob': cronJobColumns,
  'batch/Job': jobColumns,
  'coordination.k8s.io/Lease': leaseColumns,
  'discovery.k8s.io/EndpointSlice': endpointSliceColumns,
  'events.k8s.io/Event': eventColumns,
  'policy/PodDisruptionBudget': podDisruptionBudgetColumns,
  'rbac.authorization.k8s.io/ClusterRole': nameAndCreation,
  'rbac.authorization.k8s.io/ClusterRoleBinding': roleBindingColumns,
  'rbac.authorization.k8s.io/Role': nameAndCreation,
  'rbac.authorization.k8s.io/RoleBinding': roleBindingColumns,
  'scheduling.k8s.io/PriorityClass': priorityClassColumns,
  'storage.k8s.io/CSIDriver': csiDriverColumns,
  'storage.k8s.io/CSINode': csiNodeColumns,
  'storage.k8s.io/StorageClass': storageClassColumns,
  'storage.k8s.io/VolumeAttachment': volumeAttachmentColumns,
}

/** What `kubectl get` shows of a kind; priority 1 is for `-o wide`. */
export function columnsOf({ group, kind }: { group: string; kind: string }): readonly TableColumn[] {
  return columnsByKind[`${group}/${kind}`] ?? nameAndAge
}

function size(entries: Readonly<Record<string, string>> | undefined): number {
  return Object.keys(entries ?? {}).length
}

function quotaText({ status }: ResourceQuota, belongs: (resource: string) => boolean): string {
  return Object.entries(status?.hard ?? {})
    .filter(([resource]) => belongs(resource))
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([resource, hard]) => `${resource}: ${status?.used?.[resource] ?? '0'}/${hard}`)
    .join(', ')
}
