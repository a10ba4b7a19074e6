import type { Deployment, ReplicaSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { PodTemplateSpec } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { byAge } from '../pod-facts.ts'
import {
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
  rolloutMargins,
  wantedReplicas,
} from './deployment-rollout.ts'
import type { DeploymentStatus } from './deployment-status.ts'
import { controllerReference } from './owned-pods.ts'
import { templateHash } from './template-hash.ts'

export const revisionAnnotation = 'deployment.kubernetes.io/revision'
const historyAnnotation = 'deployment.kubernetes.io/revision-history'
const hashLabel = 'pod-template-hash'

/** Annotations that belong to one object and are not handed on to its ReplicaSets. */
const ownAnnotations = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  historyAnnotation,
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
  'deprecated.deployment.rollback.to',
])

export function revisionOf(set: ReplicaSet): number {
  return Number.parseInt(set.metadata.annotations?.[revisionAnnotation] ?? '0', 10) || 0
}

export function nextRevision(old: readonly ReplicaSet[]): number {
  return Math.max(0, ...old.map(revisionOf)) + 1
}

/** The oldest ReplicaSet whose template is the Deployment's, the hash label aside. */
export function findCurrent(deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  return [...sets]
    .sort(byAge)
    .find(({ spec }) => spec.template !== undefined && isSameTemplate(spec.template, deployment.spec.template))
}

function isSameTemplate(a: PodTemplateSpec, b: PodTemplateSpec): boolean {
  return isSameJson(a.spec, b.spec) && isSameJson(withoutHash(a.metadata), withoutHash(b.metadata))
}

function withoutHash(metadata: PodTemplateSpec['metadata'] = {}): PodTemplateSpec['metadata'] {
  const { labels = {}, ...rest } = metadata
  const { [hashLabel]: _, ...others } = labels
  return { ...rest, labels: others }
}

export function buildReplicaSet(
  deployment: Deployment,
  { replicas, revision }: { replicas: number; revision: number },
): ReplicaSet {
  const { template, selector, minReadySeconds = 0 } = deployment.spec
  const hash = templateHash(template, (deployment.status as DeploymentStatus | undefined)?.collisionCount)
  const labels = { ...template.metadata?.labels, [hashLabel]: hash }
  const wanted = wantedReplicas(deployment)
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${deployment.metadata.name.slice(0, 252 - hash.length)}-${hash}`,
      namespace: deployment.metadata.namespace as string,
      labels,
      annotations: {
        ...handedOn(deployment),
        [desiredReplicasAnnotation]: String(wanted),
        [maxReplicasAnnotation]: String(wanted + rolloutMargins(deployment).surge),
        [revisionAnnotation]: String(revision),
      },
      ownerReferences: [controllerReference(deployment, deployments)],
    },
    spec: {
      replicas,
      minReadySeconds,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  }
}

function handedOn(deployment: Deployment): Record<string, string> {
  const entries = Object.entries(deployment.metadata.annotations ?? {})
  return Object.fromEntries(entries.filter(([name]) => !ownAnnotations.has(name)))
}

/**
 * The annotations of the current set: the Deployment's own handed on, and the latest revision with the former ones
 * remembered, which is how `kubectl rollout undo` finds its way. The same object when nothing changes.
 */
export function annotationsForCurrent(
  deployment: Deployment,
  set: ReplicaSet,
  revision: number,
): Readonly<Record<string, string>> {
  const held = set.metadata.annotations ?? {}
  const former = revisionOf(set)
  const next: Record<string, string> = { ...held, ...handedOn(deployment) }
  if (former < revision) {
    next[revisionAnnotation] = String(revision)
    if (former > 0) next[historyAnnotation] = [held[historyAnnotation], former].filter(Boolean).join(',')
  }
  return isSameJson(held, next) ? (set.metadata.annotations ?? held) : next
}
