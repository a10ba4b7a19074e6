import type { Deployment, ReplicaSet } from '@cofferdam/kubernetes/api/apps.ts'
import { type Condition, conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { type ReplicaSetsOfDeployment, rolloutMargins, totalReplicas, wantedReplicas } from './deployment-rollout.ts'
import { withoutZeros } from './pod-control.ts'

export interface DeploymentCondition extends Condition {
  readonly lastUpdateTime?: string
}

export type DeploymentStatus = NonNullable<Deployment['status']> & { readonly collisionCount?: number }

/** What a rollout has to say of itself beside the counts. */
export interface Progress {
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

const noDeadline = 2_147_483_647

export function deadlineSeconds(deployment: Deployment): number | undefined {
  const seconds = deployment.spec.progressDeadlineSeconds
  return seconds === noDeadline ? undefined : seconds
}

export function countReplicas(
  deployment: Deployment,
  { current, old }: ReplicaSetsOfDeployment,
  now: string,
): DeploymentStatus {
  const all = [...old, current]
  const sum = (of: (set: ReplicaSet) => number | undefined) =>
    all.reduce((total, set) => total + (set === undefined ? 0 : (of(set) ?? 0)), 0)
  const available = sum((set) => set.status?.availableReplicas)
  const { collisionCount } = (deployment.status ?? {}) as DeploymentStatus
  return {
    ...withoutZeros({
      observedGeneration: deployment.metadata.generation ?? 0,
      replicas: sum((set) => set.status?.replicas),
      updatedReplicas: current?.status?.replicas ?? 0,
      readyReplicas: sum((set) => set.status?.readyReplicas),
      availableReplicas: available,
      unavailableReplicas: Math.max(0, totalReplicas(all) - available),
    }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    conditions: withDeploymentCondition(deployment.status?.conditions, {
      ...availability(deployment, available),
      lastUpdateTime: now,
    }),
  }
}

function availability(deployment: Deployment, available: number): DeploymentCondition {
  const has = available >= wantedReplicas(deployment) - rolloutMargins(deployment).unavailable
  return {
    type: 'Available',
    status: has ? 'True' : 'False',
    reason: has ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: `Deployment ${has ? 'has' : 'does not have'} minimum availability.`,
  }
}

export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = wantedReplicas(deployment)
  return (
    (status.updatedReplicas ?? 0) === wanted &&
    (status.replicas ?? 0) === wanted &&
    (status.availableReplicas ?? 0) === wanted &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  )
}

/**
 * What the Progressing condition becomes, or undefined when it stays.
 *
 * `moved` restarts the deadline even when the text stays the same.
 */
export function decideProgress({
  deployment,
  status,
  current,
  nowMs,
}: {
  deployment: Deployment
  status: DeploymentStatus
  current: ReplicaSet | undefined
  nowMs: number
}): (Progress & { readonly moved: boolean }) | undefined {
  const deadline = deadlineSeconds(deployment)
  const held = conditionOf(deployment, 'Progressing') as DeploymentCondition | undefined
  const wasComplete = held?.reason === 'NewReplicaSetAvailable'
  if (deadline === undefined || (wasComplete && (status.replicas ?? 0) === (status.updatedReplicas ?? 0))) {
    return undefined
  }
  const subject =
    current === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${current.metadata.name}"`
  if (isComplete(deployment, status)) {
    const message = `${subject} has successfully progressed.`
    return { status: 'True', reason: 'NewReplicaSetAvailable', message, moved: false }
  }
  if (hasMoved(deployment.status ?? {}, status)) {
    return { status: 'True', reason: 'ReplicaSetUpdated', message: `${subject} is progressing.`, moved: true }
  }
  if (held === undefined || wasComplete || held.reason === 'ProgressDeadlineExceeded') return undefined
  if (Date.parse(held.lastUpdateTime ?? '') + deadline * 1_000 >= nowMs) return undefined
  const message = `${subject} has timed out progressing.`
  return { status: 'False', reason: 'ProgressDeadlineExceeded', message, moved: false }
}

function hasMoved(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const oldOf = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    oldOf(after) < oldOf(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  )
}

/** Deployment conditions move to the end when status or reason change, and stay as they are otherwise. */
export function withDeploymentCondition(
  conditions: readonly Condition[] | undefined,
  next: DeploymentCondition & { readonly moved?: boolean },
): readonly DeploymentCondition[] {
  const { moved = false, ...condition } = next
  const held = conditions?.find(({ type }) => type === condition.type)
  if (!moved && held?.status === condition.status && held.reason === condition.reason) return conditions ?? []
  const since = held?.status === condition.status ? held.lastTransitionTime : condition.lastUpdateTime
  const others = (conditions ?? []).filter(({ type }) => type !== condition.type)
  return [...others, since === undefined ? condition : { ...condition, lastTransitionTime: since }]
}
