import type { Lease } from '@cofferdam/kubernetes/api/core.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import type { FieldError } from '../schema/field-error.ts'
import { nonNegativeErrors } from './field-rules.ts'

/** Drops the fields of coordinated leader election, a feature that is off by default. */
function withoutFeatures(lease: Lease): Lease {
  if (lease.spec === undefined || !('strategy' in lease.spec || 'preferredHolder' in lease.spec)) return lease
  const { strategy: _, preferredHolder: __, ...spec } = lease.spec as JsonObject
  return { ...lease, spec }
}

export const leaseStrategy: ResourceStrategy = {
  prepare(next: Lease, previous: Lease | undefined) {
    if (next.spec === undefined) return { ...next, spec: {} }
    return previous === undefined ? next : withoutFeatures(next)
  },

  admit: withoutFeatures,

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
