import type { Lease } from '@cofferdam/kubernetes/api/core.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import type { FieldError } from '../schema/field-error.ts'
import { nonNegativeErrors } from './field-rules.ts'

export const leaseStrategy: ResourceStrategy = {
  prepare(next: Lease) {
    return next.spec === undefined ? { ...next, spec: {} } : next
  },

  validate({ spec }: Lease, previous: Lease | undefined) {
    if (spec === undefined || spec === previous?.spec) return []
    const errors: FieldError[] = []
    const { leaseDurationSeconds: duration } = spec
    if (duration !== undefined && duration <= 0) {
      const field = 'spec.leaseDurationSeconds'
      errors.push({ kind: 'Invalid', field, value: duration, detail: 'must be greater than 0' })
    }
    return [...errors, ...nonNegativeErrors(spec.leaseTransitions, 'spec.leaseTransitions')]
  },
}
