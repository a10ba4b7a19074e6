import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { type Condition, conditionOf, type KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'

export function isTerminating(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined
}

/** The pod has run to its end and will not run again. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
}

export function isActive(pod: Pod): boolean {
  return !isFinished(pod) && !isTerminating(pod)
}

const readyConditions = new WeakMap<Pod, Condition | null>()

/** Objects never change, so what was found in one is found there for ever; large sets of pods are searched often. */
function readyCondition(pod: Pod): Condition | undefined {
  const known = readyConditions.get(pod)
  if (known !== undefined) return known ?? undefined
  const found = conditionOf(pod, 'Ready')
  readyConditions.set(pod, found ?? null)
  return found
}

export function isReady(pod: Pod): boolean {
  return readyCondition(pod)?.status === 'True'
}

export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isReady(pod)
}

/** Milliseconds until a ready pod counts as available: 0 when it does, undefined while it is not ready. */
export function availableInMs(pod: Pod, minReadySeconds: number, nowMs: number): number | undefined {
  const ready = readyCondition(pod)
  if (ready?.status !== 'True') return undefined
  if (minReadySeconds === 0) return 0
  return Math.max(0, Date.parse(ready.lastTransitionTime ?? '') + minReadySeconds * 1_000 - nowMs)
}

export function isAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  return availableInMs(pod, minReadySeconds, nowMs) === 0
}

export function createdAt(object: KubeObject): number {
  return Date.parse(object.metadata.creationTimestamp ?? '') || 0
}

/** Oldest first; what was created in the same second goes by name. */
export function byAge(a: KubeObject, b: KubeObject): number {
  return createdAt(a) - createdAt(b) || compareText(a.metadata.name, b.metadata.name)
}

/** By code points, the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
