import type { Deployment, ReplicaSet } from '@cofferdam/kubernetes/api/apps.ts'
import { type IntOrString, scaledValue } from '@cofferdam/kubernetes/api/int-or-string.ts'
import { byAge, createdAt } from '../pod-facts.ts'

/** One ReplicaSet and how many pods it shall have. */
export interface ScaleStep {
  readonly set: ReplicaSet
  readonly replicas: number
}

export interface ReplicaSetsOfDeployment {
  /** The one with the template of the Deployment. */
  readonly current: ReplicaSet | undefined
  readonly old: readonly ReplicaSet[]
}

export const desiredReplicasAnnotation = 'deployment.kubernetes.io/desired-replicas'
export const maxReplicasAnnotation = 'deployment.kubernetes.io/max-replicas'

export function wantedReplicas(object: { readonly spec: { readonly replicas?: number } }): number {
  return object.spec.replicas ?? 1
}

export function isRolling(deployment: Deployment): boolean {
  return deployment.spec.strategy?.type !== 'Recreate'
}

/** How far a rolling update may go above and below the wanted number. Never 0 and 0, or it could not begin. */
export function rolloutMargins(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const wanted = wantedReplicas(deployment)
  if (!isRolling(deployment)) return { surge: 0, unavailable: 0 }
  const { maxSurge = '25%', maxUnavailable = '25%' } = deployment.spec.strategy?.rollingUpdate ?? {}
  const surge = countOf(maxSurge, wanted, 'up')
  const unavailable = countOf(maxUnavailable, wanted, 'down')
  return { surge, unavailable: Math.min(wanted, surge === 0 && unavailable === 0 ? 1 : unavailable) }
}

function countOf(value: IntOrString, wanted: number, rounding: 'up' | 'down'): number {
  return scaledValue(value, wanted, rounding)
}

export function activeSets(sets: readonly (ReplicaSet | undefined)[]): ReplicaSet[] {
  return sets.filter((set) => set !== undefined && wantedReplicas(set) > 0) as ReplicaSet[]
}

export function totalReplicas(sets: readonly (ReplicaSet | undefined)[]): number {
  return sets.reduce((sum, set) => sum + (set === undefined ? 0 : wantedReplicas(set)), 0)
}

function totalAvailable(sets: readonly (ReplicaSet | undefined)[]): number {
  return sets.reduce((sum, set) => sum + (set?.status?.availableReplicas ?? 0), 0)
}

/** The size with which the new ReplicaSet may go on, given what runs already. */
export function nextSizeOfCurrent(deployment: Deployment, { current, old }: ReplicaSetsOfDeployment): number {
  const wanted = wantedReplicas(deployment)
  const size = current === undefined ? 0 : wantedReplicas(current)
  if (!isRolling(deployment) || size > wanted) return wanted
  const room = wanted + rolloutMargins(deployment).surge - totalReplicas([...old, current])
  return room <= 0 ? size : size + Math.min(room, wanted - size)
}

/**
 * Which old pods a rolling update may give up now: broken ones first, then as many as are available beyond the minimum.
 *
 * Guarantees: pods of the new ReplicaSet that are not available yet are never counted on.
 */
export function decideOldSizes(deployment: Deployment, sets: ReplicaSetsOfDeployment): ScaleStep[] {
  const { current } = sets
  const old = activeSets(sets.old).sort(byAge)
  if (current === undefined || old.length === 0) return []
  const minAvailable = wantedReplicas(deployment) - rolloutMargins(deployment).unavailable
  const notYetAvailable = wantedReplicas(current) - (current.status?.availableReplicas ?? 0)
  const mayGo = totalReplicas([...old, current]) - minAvailable - notYetAvailable
  if (mayGo <= 0) return []

  const sizes = new Map(old.map((set) => [set, wantedReplicas(set)]))
  let broken = mayGo
  for (const set of old) {
    const size = sizes.get(set) as number
    const down = Math.max(0, Math.min(broken, size - (set.status?.availableReplicas ?? 0)))
    sizes.set(set, size - down)
    broken -= down
  }
  let spare = totalAvailable([...old, current]) - minAvailable
  for (const set of old) {
    const size = sizes.get(set) as number
    const down = Math.max(0, Math.min(spare, size))
    sizes.set(set, size - down)
    spare -= down
  }
  return changedSizes(sizes)
}

/** A change of the wanted number while a rollout stands between two templates is shared out in proportion. */
export function decideSharedSizes(deployment: Deployment, { current, old }: ReplicaSetsOfDeployment): ScaleStep[] {
  const wanted = wantedReplicas(deployment)
  const active = activeSets([...old, current])
  if (active.length <= 1) {
    const only = active[0] ?? current ?? [...old].sort((a, b) => createdAt(b) - createdAt(a))[0]
    return only === undefined ? [] : changedSizes(new Map([[only, wanted]]))
  }
  if (current !== undefined && isSaturated(deployment, current)) {
    return changedSizes(new Map(activeSets(old).map((set) => [set, 0])))
  }
  if (!isRolling(deployment)) return []

  const allowed = wanted === 0 ? 0 : wanted + rolloutMargins(deployment).surge
  const toAdd = allowed - totalReplicas(active)
  const youngFirst = toAdd > 0 ? 1 : -1
  active.sort((a, b) => wantedReplicas(b) - wantedReplicas(a) || youngFirst * byAge(b, a))
  let added = 0
  const sizes = new Map<ReplicaSet, number>()
  for (const set of active) {
    const share = shareOf(deployment, set, allowed)
    const part = toAdd > 0 ? Math.min(share, toAdd - added) : Math.max(share, toAdd - added)
    sizes.set(set, wantedReplicas(set) + (toAdd === 0 ? 0 : part))
    added += toAdd === 0 ? 0 : part
  }
  const largest = active[0] as ReplicaSet
  sizes.set(largest, Math.max(0, (sizes.get(largest) as number) + toAdd - added))
  return [...sizes].map(([set, replicas]) => ({ set, replicas }))
}

function shareOf(deployment: Deployment, set: ReplicaSet, allowed: number): number {
  const size = wantedReplicas(set)
  if (wantedReplicas(deployment) === 0) return -size
  const before = Number(set.metadata.annotations?.[maxReplicasAnnotation]) || (deployment.status?.replicas ?? 0)
  return before === 0 ? 0 : Math.round((size * allowed) / before) - size
}

function isSaturated(deployment: Deployment, set: ReplicaSet): boolean {
  const wanted = wantedReplicas(deployment)
  return (
    wantedReplicas(set) === wanted &&
    set.metadata.annotations?.[desiredReplicasAnnotation] === String(wanted) &&
    (set.status?.availableReplicas ?? 0) === wanted
  )
}

/** The wanted number was changed after the active ReplicaSets were last sized. */
export function isScaling(deployment: Deployment, { current, old }: ReplicaSetsOfDeployment): boolean {
  return activeSets([...old, current]).some((set) => {
    const sizedFor = set.metadata.annotations?.[desiredReplicasAnnotation]
    return sizedFor !== undefined && Number(sizedFor) !== wantedReplicas(deployment)
  })
}

function changedSizes(sizes: ReadonlyMap<ReplicaSet, number>): ScaleStep[] {
  return [...sizes]
    .filter(([set, replicas]) => wantedReplicas(set) !== replicas)
    .map(([set, replicas]) => ({ set, replicas }))
}
