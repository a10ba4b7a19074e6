import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { scaledValue } from '@cofferdam/kubernetes/api/int-or-string.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { withCondition } from '../conditions.ts'
import { isReady, isTerminating } from '../pod-facts.ts'

/** An eviction that was granted and has not begun counts against the budget for this long. */
export const deletionTimeoutMs = 120_000

export type BudgetStatus = NonNullable<PodDisruptionBudget['status']>

/** Whether the scale of the controllers decides how many pods are expected; otherwise the selected pods are counted. */
export function needsScale({ spec }: PodDisruptionBudget): boolean {
  return spec.maxUnavailable !== undefined || typeof spec.minAvailable === 'string'
}

export interface BudgetSnapshot {
  readonly budget: PodDisruptionBudget
  /** All pods that the selector takes. */
  readonly pods: readonly Pod[]
  /** The wanted replicas of all controllers of these pods together. */
  readonly scale: number
  readonly nowMs: number
  readonly now: string
}

export interface BudgetDecision {
  readonly status: BudgetStatus
  /** When a granted eviction stops counting. */
  readonly recheckAtMs: number | undefined
  /** Pods whose granted eviction never came. */
  readonly notDeleted: readonly Pod[]
}

/**
 * What a budget allows right now.
 *
 * Guarantees: pods that are terminating, and pods whose eviction was granted but has not begun, are not counted on.
 * Fails closed: a budget that expects no pods allows nothing.
 */
export function decideBudgetStatus(snapshot: BudgetSnapshot): BudgetDecision {
  const { budget, pods, nowMs } = snapshot
  const { expectedPods, desiredHealthy } = expectationsOf(snapshot)
  const granted = new Map<string, string>()
  const notDeleted: Pod[] = []
  let recheckAtMs: number | undefined
  let currentHealthy = 0
  for (const pod of pods) {
    if (isTerminating(pod)) continue
    const grantedAt = budget.status?.disruptedPods?.[pod.metadata.name]
    const lapsesAt = grantedAt === undefined ? undefined : Date.parse(grantedAt) + deletionTimeoutMs
    if (grantedAt !== undefined && lapsesAt !== undefined && lapsesAt >= nowMs) {
      granted.set(pod.metadata.name, grantedAt)
      recheckAtMs = Math.min(recheckAtMs ?? lapsesAt, lapsesAt)
      if (lapsesAt > nowMs) continue
    } else if (grantedAt !== undefined) notDeleted.push(pod)
    if (isReady(pod)) currentHealthy += 1
  }
  const spare = currentHealthy - desiredHealthy
  const disruptionsAllowed = expectedPods > 0 && spare > 0 ? spare : 0
  const counts = { currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed }
  return { status: statusOf(snapshot, counts, granted), recheckAtMs, notDeleted }
}

function expectationsOf({ budget, pods, scale }: BudgetSnapshot): { expectedPods: number; desiredHealthy: number } {
  const { minAvailable, maxUnavailable } = budget.spec
  if (maxUnavailable !== undefined) {
    return { expectedPods: scale, desiredHealthy: Math.max(0, scale - scaledValue(maxUnavailable, scale)) }
  }
  if (typeof minAvailable === 'string') return { expectedPods: scale, desiredHealthy: scaledValue(minAvailable, scale) }
  return minAvailable === undefined
    ? { expectedPods: 0, desiredHealthy: 0 }
    : { expectedPods: pods.length, desiredHealthy: minAvailable }
}

function statusOf(
  { budget, now }: BudgetSnapshot,
  counts: Pick<BudgetStatus, 'currentHealthy' | 'desiredHealthy' | 'expectedPods' | 'disruptionsAllowed'>,
  granted: ReadonlyMap<string, string>,
): BudgetStatus {
  const observedGeneration = budget.metadata.generation ?? 0
  const allows = counts.disruptionsAllowed > 0
  return {
    ...counts,
    observedGeneration,
    ...(granted.size === 0 ? {} : { disruptedPods: Object.fromEntries(granted) }),
    conditions: withCondition(budget.status?.conditions, {
      type: 'DisruptionAllowed',
      status: allows ? 'True' : 'False',
      reason: allows ? 'SufficientPods' : 'InsufficientPods',
      message: '',
      observedGeneration,
      lastTransitionTime: now,
    }),
  }
}

/** What stands when the budget could not be worked out: nothing may go, and why. The counts stay as last known. */
export function failSafeStatus(budget: PodDisruptionBudget, message: string, now: string): BudgetStatus {
  const { observedGeneration, conditions, ...held } = budget.status ?? {
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
    disruptionsAllowed: 0,
  }
  return {
    ...held,
    disruptionsAllowed: 0,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    conditions: withCondition(conditions, {
      type: 'DisruptionAllowed',
      status: 'False',
      reason: 'SyncFailed',
      message,
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
      lastTransitionTime: now,
    }),
  }
}
