import { ApiError } from '../api/api-error.ts'
import type { Pod } from '../api/core.ts'
import { type Condition, conditionOf } from '../api/kube-object.ts'
import { isSelected } from '../api/label-selector.ts'
import type { PodDisruptionBudget } from '../api/policy.ts'

/** More grants than this that no disruption controller has confirmed, and the budget is taken as unattended. */
const maxDisruptedPods = 2000
const unknownStatus = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
const refusal = "Cannot evict pod as it would violate the pod's disruption budget."

/** Budgets of the pod's namespace that cover it. An empty selector covers every pod, an absent one none. */
export function budgetsOf(pod: Pod, budgets: readonly PodDisruptionBudget[]): readonly PodDisruptionBudget[] {
  return budgets.filter(({ spec }) => {
    const selector = spec.selector ?? undefined
    return selector !== undefined && isSelected(selector, pod.metadata.labels)
  })
}

/** Whether an unready pod may go without being counted: by policy, or because the healthy ones suffice without it. */
export function mayEvictUnready({ spec, status }: PodDisruptionBudget): boolean {
  if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {}
  return currentHealthy >= desiredHealthy && desiredHealthy > 0
}

/**
 * The budget after one disruption was taken from it for the named pod.
 *
 * Guarantees: what comes back allows exactly one disruption less, and names the pod as disrupted.
 * Fails closed: a status that does not yet answer for the present spec allows nothing.
 *
 * @throws ApiError 429 while the budget allows no disruption, 403 when its status makes no sense
 */
export function takeDisruption(budget: PodDisruptionBudget, podName: string, now: string): PodDisruptionBudget {
  const { name, generation = 0 } = budget.metadata
  const status = { ...unknownStatus, ...budget.status }
  const { disruptionsAllowed, disruptedPods = {}, observedGeneration = 0 } = status
  if (observedGeneration < generation) throw stillBeingProcessed(name)
  if (disruptionsAllowed < 0) throw forbidden(name, 'pdb disruptions allowed is negative')
  if (Object.keys(disruptedPods).length > maxDisruptedPods) {
    throw forbidden(name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller')
  }
  if (disruptionsAllowed === 0) throw refused(reasonForNone(budget))
  const left = disruptionsAllowed - 1
  return {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: left,
      disruptedPods: { ...disruptedPods, [podName]: now },
      ...(left > 0 ? {} : { conditions: withDisruptionsUsedUp(status.conditions ?? [], observedGeneration, now) }),
    },
  }
}

/** 429 with a wait of 10 seconds: the budget's status is older than its spec, or the pod changed under our hands. */
export function stillBeingProcessed(name: string): ApiError {
  return refused(`The disruption budget ${name} is still being processed by the server.`, 10)
}

function refused(cause: string, retryAfterSeconds?: number): ApiError {
  return new ApiError('TooManyRequests', refusal, {
    details: {
      causes: [{ reason: 'DisruptionBudget', message: cause }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  })
}

function reasonForNone(budget: PodDisruptionBudget): string {
  const { name } = budget.metadata
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {}
  const condition = conditionOf(budget, 'DisruptionAllowed')
  const explained = condition?.status === 'False' && condition.message ? condition.message : undefined
  // The counts of a budget that could not be computed mean nothing, so its failure is told first.
  if (explained !== undefined && condition?.reason === 'SyncFailed') {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${explained}`
  }
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
  }
  if (explained !== undefined) {
    return `The disruption budget ${name} does not allow evicting pods currently (${condition?.reason ?? ''}): ${explained}`
  }
  return `The disruption budget ${name} does not allow evicting pods currently`
}

function forbidden(name: string, why: string): ApiError {
  return new ApiError('Forbidden', `poddisruptionbudget.policy "${name}" is forbidden: ${why}`, {
    details: { name, group: 'policy', kind: 'poddisruptionbudget' },
  })
}

function withDisruptionsUsedUp(conditions: readonly Condition[], observedGeneration: number, now: string): Condition[] {
  const previous = conditions.find(({ type }) => type === 'DisruptionAllowed')
  const condition: Condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'InsufficientPods',
    message: '',
    observedGeneration,
    lastTransitionTime: (previous?.status === 'False' ? previous.lastTransitionTime : undefined) ?? now,
  }
  return previous === undefined
    ? [...conditions, condition]
    : conditions.map((each) => (each === previous ? condition : each))
}
