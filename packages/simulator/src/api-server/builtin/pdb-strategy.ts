import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import type { FieldError } from '../schema/field-error.ts'
import { atMostAllErrors, choiceErrors, intOrPercentErrors, nonNegativeErrors } from './field-rules.ts'
import { selectorErrors } from './labels-validation.ts'

/** What a budget says of itself until its controller has counted. */
const uncounted = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }

export const pdbStrategy: ResourceStrategy = {
  prepare(next: PodDisruptionBudget, previous: PodDisruptionBudget | undefined) {
    const spec = next.spec ?? {}
    if (previous === undefined) return { ...next, spec, status: uncounted }
    return next.spec === undefined ? { ...next, spec } : next
  },

  validate(next: PodDisruptionBudget, previous: PodDisruptionBudget | undefined) {
    const { spec } = next
    if (spec === undefined || spec === previous?.spec) return []
    const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec
    const errors: FieldError[] = []
    if (minAvailable !== undefined && maxUnavailable !== undefined) {
      const detail = 'minAvailable and maxUnavailable cannot be both set'
      errors.push({ kind: 'Invalid', field: 'spec', value: spec, detail })
    }
    errors.push(...intOrPercentErrors(minAvailable, 'spec.minAvailable'))
    errors.push(...atMostAllErrors(minAvailable, 'spec.minAvailable'))
    errors.push(...intOrPercentErrors(maxUnavailable, 'spec.maxUnavailable'))
    errors.push(...atMostAllErrors(maxUnavailable, 'spec.maxUnavailable'))
    errors.push(...selectorErrors(selector, 'spec.selector'))
    const policies = ['AlwaysAllow', 'IfHealthyBudget']
    errors.push(...choiceErrors(unhealthyPodEvictionPolicy, policies, 'spec.unhealthyPodEvictionPolicy'))
    return errors
  },

  validateStatus({ status }: PodDisruptionBudget) {
    return [
      ...nonNegativeErrors(status?.disruptionsAllowed, 'status.disruptionsAllowed'),
      ...nonNegativeErrors(status?.currentHealthy, 'status.currentHealthy'),
      ...nonNegativeErrors(status?.desiredHealthy, 'status.desiredHealthy'),
      ...nonNegativeErrors(status?.expectedPods, 'status.expectedPods'),
    ]
  },
}
