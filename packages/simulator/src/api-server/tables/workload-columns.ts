import type { DaemonSet, Deployment, Job, ReplicaSet, Scale, StatefulSet } from '@cofferdam/kubernetes/api/apps.ts'
import { controllerOf, type KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { TableColumn } from '../resource-definition.ts'
import { ageColumn, booleanColumn, column, integerColumn, nameColumn, wideColumn } from './column.ts'
import { humanDuration, timeSince } from './human-duration.ts'
import { labelsText, selectorCell, sortedSelectorText } from './labels-text.ts'
import { templateColumns } from './pod-columns.ts'

const selectorColumn = wideColumn<ReplicaSet>('Selector', ({ spec }) => selectorCell(spec.selector))

export const deploymentColumns: readonly TableColumn[] = [
  nameColumn,
  column<Deployment>('Ready', ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas ?? 1}`),
  column<Deployment>('Up-to-date', ({ status }) => status?.updatedReplicas ?? 0),
  column<Deployment>('Available', ({ status }) => status?.availableReplicas ?? 0),
  ageColumn,
  ...templateColumns<Deployment>(({ spec }) => spec.template),
  wideColumn<Deployment>('Selector', ({ spec }) => sortedSelectorText(spec.selector)),
]

export const replicaSetColumns: readonly TableColumn[] = [
  nameColumn,
  integerColumn<ReplicaSet>('Desired', ({ spec }) => spec.replicas ?? 1),
  integerColumn<ReplicaSet>('Current', ({ status }) => status?.replicas),
  integerColumn<ReplicaSet>('Ready', ({ status }) => status?.readyReplicas),
  ageColumn,
  ...templateColumns<ReplicaSet>(({ spec }) => spec.template),
  selectorColumn,
]

interface ReplicationController extends KubeObject {
  readonly spec?: Omit<ReplicaSet['spec'], 'selector'> & { readonly selector?: Readonly<Record<string, string>> }
  readonly status?: ReplicaSet['status']
}

export const replicationControllerColumns: readonly TableColumn[] = [
  nameColumn,
  integerColumn<ReplicationController>('Desired', ({ spec }) => spec?.replicas ?? 1),
  integerColumn<ReplicationController>('Current', ({ status }) => status?.replicas),
  integerColumn<ReplicationController>('Ready', ({ status }) => status?.readyReplicas),
  ageColumn,
  ...templateColumns<ReplicationController>(({ spec }) => spec?.template),
  wideColumn<ReplicationController>('Selector', ({ spec }) => labelsText(spec?.selector)),
]

export const statefulSetColumns: readonly TableColumn[] = [
  nameColumn,
  column<StatefulSet>('Ready', ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas ?? 1}`),
  ageColumn,
  ...templateColumns<StatefulSet>(({ spec }) => spec.template),
]

export const daemonSetColumns: readonly TableColumn[] = [
  nameColumn,
  integerColumn<DaemonSet>('Desired', ({ status }) => status?.desiredNumberScheduled),
  integerColumn<DaemonSet>('Current', ({ status }) => status?.currentNumberScheduled),
  integerColumn<DaemonSet>('Ready', ({ status }) => status?.numberReady),
  integerColumn<DaemonSet>('Up-to-date', ({ status }) => status?.updatedNumberScheduled),
  integerColumn<DaemonSet>('Available', ({ status }) => status?.numberAvailable),
  column<DaemonSet>('Node Selector', ({ spec }) => labelsText(spec.template.spec.nodeSelector)),
  ageColumn,
  ...templateColumns<DaemonSet>(({ spec }) => spec.template),
  selectorColumn,
]

export const jobColumns: readonly TableColumn[] = [
  nameColumn,
  column<Job>('Status', jobStatus),
  column<Job>('Completions', jobCompletions),
  column<Job>('Duration', jobDuration),
  ageColumn,
  ...templateColumns<Job>(({ spec }) => spec.template),
  wideColumn<Job>('Selector', ({ spec }) => selectorCell(spec.selector)),
]

function jobStatus({ metadata, status }: Job): string {
  const holds = (type: string) => status?.conditions?.find((c) => c.type === type)?.status === 'True'
  if (holds('Complete')) return 'Complete'
  if (holds('Failed')) return 'Failed'
  if (metadata.deletionTimestamp !== undefined) return 'Terminating'
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(holds) ?? 'Running'
}

function jobCompletions({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`
  const parallelism = spec.parallelism ?? 0
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDuration({ status }: Job, nowMs: number): string {
  if (status?.startTime === undefined) return ''
  if (status.completionTime === undefined) return timeSince(status.startTime, nowMs)
  return humanDuration(Date.parse(status.completionTime) - Date.parse(status.startTime))
}

interface CronJob extends KubeObject {
  readonly spec: {
    readonly schedule: string
    readonly timeZone?: string
    readonly suspend?: boolean
    readonly jobTemplate: { readonly spec: Job['spec'] }
  }
  readonly status?: { readonly active?: readonly unknown[]; readonly lastScheduleTime?: string }
}

export const cronJobColumns: readonly TableColumn[] = [
  nameColumn,
  column<CronJob>('Schedule', ({ spec }) => spec.schedule),
  column<CronJob>('Timezone', ({ spec }) => spec.timeZone ?? '<none>'),
  booleanColumn<CronJob>('Suspend', ({ spec }) => spec.suspend ?? false),
  integerColumn<CronJob>('Active', ({ status }) => status?.active?.length),
  column<CronJob>('Last Schedule', ({ status }, nowMs) =>
    status?.lastScheduleTime === undefined ? '<none>' : timeSince(status.lastScheduleTime, nowMs),
  ),
  ageColumn,
  ...templateColumns<CronJob>(({ spec }) => spec.jobTemplate.spec.template),
  wideColumn<CronJob>('Selector', ({ spec }) => selectorCell(spec.jobTemplate.spec.selector)),
]

export const podDisruptionBudgetColumns: readonly TableColumn[] = [
  nameColumn,
  column<PodDisruptionBudget>('Min Available', ({ spec }) => String(spec.minAvailable ?? 'N/A')),
  column<PodDisruptionBudget>('Max Unavailable', ({ spec }) => String(spec.maxUnavailable ?? 'N/A')),
  integerColumn<PodDisruptionBudget>('Allowed Disruptions', ({ status }) => status?.disruptionsAllowed),
  ageColumn,
]

export const controllerRevisionColumns: readonly TableColumn[] = [
  nameColumn,
  column('Controller', controllerText),
  column<KubeObject & { readonly revision?: number }>('Revision', ({ revision }) => revision ?? 0),
  ageColumn,
]

function controllerText(object: KubeObject): string {
  const owner = controllerOf(object)
  if (owner === undefined) return '<none>'
  const group = owner.apiVersion.includes('/') ? `.${owner.apiVersion.split('/')[0]}` : ''
  return `${owner.kind}${group}`.toLowerCase().concat(`/${owner.name}`)
}

export const scaleColumns: readonly TableColumn[] = [
  nameColumn,
  integerColumn<Scale>('Desired', ({ spec }) => spec?.replicas),
  integerColumn<Scale>('Available', ({ status }) => status?.replicas),
  ageColumn,
]
