import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { type BudgetRefusal, refusalOf, stillProcessed } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import type { Condition } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'

const unknownStatus = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
const refusalText = "Cannot evict pod as it would violate the pod's disruption budget."

/**
 * The budget after one disruption was taken from it for the named pod.
 *
 * Guarantees: what comes back allows exactly one disruption less, and names the pod as disrupted.
 * Fails closed: a status that does not yet answer for the present spec allows nothing.
 *
 * @throws ApiError 429 while the budget allows no disruption, 403 when its status makes no sense
 */
export function takeDisruption(budget: PodDisruptionBudget, podName: string, now: string): PodDisruptionBudget {
  const refusal = refusalOf(budget)
  if (refusal !== undefined) throw refusalError(budget.metadata.name, refusal)
  const status = { ...unknownStatus, ...budget.status }
  const { disruptionsAllowed, disruptedPods = {}, observedGeneration = 0 } = status
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
  return refused(stillProcessed(name), 10)
}

function refusalError(name: string, { kind, message }: BudgetRefusal): ApiError {
  switch (kind) {
    case 'not-counted':
      return stillBeingProcessed(name)
    case 'used-up':
      return refused(message)
    case 'nonsense':
    case 'unattended':
      return forbidden(name, message)
  }
}

function refused(cause: string, retryAfterSeconds?: number): ApiError {
  return new ApiError('TooManyRequests', refusalText, {
    details: {
      causes: [{ reason: 'DisruptionBudget', message: cause }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  })
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
