import type { DaemonSet, Deployment, Job, StatefulSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { Container, PodSpec, PodTemplateSpec } from '@cofferdam/kubernetes/api/core.ts'
import type { ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { App, BatchJob, Pace } from './cluster-schema.ts'
import { skipDrainAnnotation } from './cofferdam-words.ts'

export type Workload = Deployment | StatefulSet | DaemonSet

/** The volumes of a workload: claims that its pods share, and templates of claims that each of them has for itself. */
export interface Mounts {
  readonly volumes: NonNullable<PodSpec['volumes']>
  readonly templates: readonly { readonly metadata: { readonly name: string }; readonly spec: object }[]
}

const noMounts: Mounts = { volumes: [], templates: [] }

export function buildWorkload(app: App, pace: Pace, mounts = noMounts): Workload {
  const metadata = { name: app.name, namespace: app.namespace, labels: labelsOf(app) }
  const selector = { matchLabels: { app: app.name } }
  const template = buildTemplate(app, pace, mounts)
  const replicas = app.replicas ?? 1
  const header = { apiVersion: 'apps/v1', kind: app.kind, metadata }
  switch (app.kind) {
    case 'Deployment':
      return { ...header, spec: { replicas, selector, template } }
    case 'StatefulSet':
      return { ...header, spec: { replicas, serviceName: app.name, selector, template, ...claimTemplates(mounts) } }
    case 'DaemonSet':
      return { ...header, spec: { selector, template } }
  }
}

export function buildBudget(app: App): PodDisruptionBudget | undefined {
  if (app.pdb === undefined) return undefined
  const { minAvailable, maxUnavailable, unhealthyPodEvictionPolicy } = app.pdb
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: app.name, namespace: app.namespace, labels: labelsOf(app) },
    spec: {
      selector: { matchLabels: { app: app.name } },
      ...(minAvailable === undefined ? {} : { minAvailable }),
      ...(maxUnavailable === undefined ? {} : { maxUnavailable }),
      ...(unhealthyPodEvictionPolicy === undefined ? {} : { unhealthyPodEvictionPolicy }),
    },
  }
}

export function buildJob(job: BatchJob): Job {
  const { name, namespace, completions, parallelism, runsForSeconds } = job
  const annotations = runsForSeconds === undefined ? {} : { 'cofferdam.io/run-seconds': String(runsForSeconds) }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace },
    spec: {
      completions,
      parallelism,
      template: {
        metadata: { labels: { app: name }, annotations },
        spec: { ...basicSpec(job), restartPolicy: 'Never' },
      },
    },
  }
}

function labelsOf(app: App): Record<string, string> {
  return { ...app.labels, app: app.name }
}

function claimTemplates({ templates }: Mounts): object {
  return templates.length === 0 ? {} : { volumeClaimTemplates: templates }
}

function buildTemplate(app: App, pace: Pace, { volumes }: Mounts): PodTemplateSpec {
  const annotations = {
    ...(app.readyAfterSeconds === undefined
      ? {}
      : { 'cofferdam.io/ready-after-seconds': String(app.readyAfterSeconds) }),
    ...(app.skipDrain ? { [skipDrainAnnotation]: 'true' } : {}),
  }
  const metadata: Partial<ObjectMeta> = {
    labels: labelsOf(app),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  }
  return {
    metadata,
    spec: {
      ...basicSpec(app),
      ...spreadOf(app),
      ...toleratingOf(app),
      ...(volumes.length === 0 ? {} : { volumes }),
      terminationGracePeriodSeconds: app.terminationSeconds ?? pace.terminationSeconds,
    },
  }
}

/** Long enough for a reboot, where its pods stay for it. */
const patienceSeconds = 1_800

function toleratingOf({ everywhere, skipDrain }: App): Pick<PodSpec, 'tolerations'> {
  if (everywhere) return { tolerations: [{ operator: 'Exists' }] }
  if (!skipDrain) return {}
  const patient = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: patienceSeconds } as const
  return {
    tolerations: [
      { key: 'node.kubernetes.io/not-ready', ...patient },
      { key: 'node.kubernetes.io/unreachable', ...patient },
    ],
  }
}

function basicSpec(workload: Pick<App, 'name' | 'image' | 'requests' | 'nodeSelector'>): PodSpec {
  const { cpu, memory } = workload.requests
  const requests = { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) }
  const container: Container = {
    name: workload.name,
    image: workload.image ?? `registry.example/${workload.name}:1.0.0`,
    ...(Object.keys(requests).length === 0 ? {} : { resources: { requests } }),
  }
  const { nodeSelector } = workload
  return { containers: [container], ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }) }
}

/** Over zones as evenly as it goes, or strictly one per host. */
function spreadOf(app: App): Pick<PodSpec, 'topologySpreadConstraints' | 'affinity'> {
  const labelSelector = { matchLabels: { app: app.name } }
  if (app.spread === 'host') {
    const term = { labelSelector, topologyKey: 'kubernetes.io/hostname' }
    return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } }
  }
  if (app.spread === undefined) return {}
  const evenly = { maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway', labelSelector } as const
  return {
    topologySpreadConstraints: [
      { ...evenly, topologyKey: 'topology.kubernetes.io/zone' },
      { ...evenly, topologyKey: 'kubernetes.io/hostname' },
    ],
  }
}
