import type { AdmissionPolicy, AdmissionPolicyBinding } from '../admission/admission-policy.ts'
import { policyExpressionProblem } from '../admission/policy-expressions.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import type { FieldError } from '../schema/field-error.ts'
import { requiredError } from './field-rules.ts'
import { withDefaults, withField } from './with-defaults.ts'

const matchDefaults = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} }

export const admissionPolicyStrategy: ResourceStrategy = {
  prepare(next: AdmissionPolicy) {
    const { spec } = next
    if (spec?.matchConstraints === undefined) return next
    const matchConstraints = withDefaults(spec.matchConstraints, matchDefaults)
    return withField(
      next,
      'spec',
      withField(withDefaults(spec, { failurePolicy: 'Fail' }), 'matchConstraints', matchConstraints),
    )
  },

  validate(next: AdmissionPolicy, previous: AdmissionPolicy | undefined) {
    if (next.spec === previous?.spec) return []
    const { matchConstraints, validations = [], matchConditions = [], variables = [] } = next.spec ?? {}
    const lists = { matchConditions, variables, validations }
    const errors: FieldError[] = matchConstraints === undefined ? [requiredError('spec.matchConstraints')] : []
    for (const [list, items] of Object.entries(lists)) {
      for (const [index, { expression }] of items.entries()) {
        const problem = policyExpressionProblem(expression)
        if (problem === undefined) continue
        errors.push({ kind: 'Invalid', field: `spec.${list}[${index}].expression`, value: expression, detail: problem })
      }
    }
    return errors
  },
}

export const admissionPolicyBindingStrategy: ResourceStrategy = {
  validate({ spec = {} }: AdmissionPolicyBinding) {
    const errors: FieldError[] = spec.policyName ? [] : [requiredError('spec.policyName')]
    if ((spec.validationActions ?? []).length === 0) errors.push(requiredError('spec.validationActions'))
    return errors
  },
}
