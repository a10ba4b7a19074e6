import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { AccessAttributes } from '../access/policy-rule.ts'
import { forbidden } from '../registry/api-errors.ts'
import { celValue } from '../schema/cel-value.ts'
import type { UserInfo } from '../user-info.ts'
import type { Admission, AdmissionRequest } from './admission.ts'
import type { AdmissionPolicy, AdmissionPolicyBinding, MatchResources, PolicyValidation } from './admission-policy.ts'
import { reviewRequest } from './admission-review.ts'
import { CelAuthorizer } from './cel-authorizer.ts'
import { evaluatePolicyExpression, type PolicyValues } from './policy-expressions.ts'
import { type MatchScope, matchedResource } from './webhook-match.ts'
import { isExempt, isRuledBy } from './webhook-rules.ts'

export interface AdmissionPolicyPorts {
  policies(): readonly KubeObject[]
  bindings(): readonly KubeObject[]
  readonly scope: MatchScope
  isAllowed(user: UserInfo, attributes: AccessAttributes): boolean
}

/**
 * ValidatingAdmissionPolicies, before the given admission.
 *
 * Fails closed: what cannot be evaluated is a refusal, unless the policy says otherwise. Policies with parameters count as such.
 */
export function withAdmissionPolicies(next: Admission, ports: AdmissionPolicyPorts): Admission {
  const inForce = () => {
    const bindings = ports.bindings() as readonly AdmissionPolicyBinding[]
    if (bindings.length === 0) return []
    const policies = new Map(ports.policies().map((policy) => [policy.metadata.name, policy as AdmissionPolicy]))
    return bindings.flatMap((binding) => {
      const policy = policies.get(binding.spec?.policyName ?? '')
      return policy === undefined ? [] : [{ policy, binding }]
    })
  }
  return {
    mayMatch(target) {
      const isAsked = inForce().some(({ policy }) => rulesOf(policy).some((rule) => isRuledBy(rule, target)))
      return (isAsked && !isExempt(target)) || next.mayMatch(target)
    },
    async admit(request) {
      const warnings = isExempt(request) ? [] : inForce().flatMap((bound) => judge(bound, request, ports))
      return [...warnings, ...(next.mayMatch(request) ? await next.admit(request) : [])]
    },
  }
}

function rulesOf({ spec = {} }: AdmissionPolicy): NonNullable<MatchResources['resourceRules']> {
  return spec.matchConstraints?.resourceRules ?? []
}

interface Bound {
  readonly policy: AdmissionPolicy
  readonly binding: AdmissionPolicyBinding
}

/** Returns warnings; refuses by throwing. */
function judge({ policy, binding }: Bound, request: AdmissionRequest, ports: AdmissionPolicyPorts): string[] {
  const { spec = {} } = policy
  const { matchResources, validationActions = [] } = binding.spec ?? {}
  if (!isWanted(spec.matchConstraints, request, ports.scope)) return []
  if (matchResources !== undefined && !isWanted({ resourceRules: anything, ...matchResources }, request, ports.scope))
    return []
  const failures = failuresOf(policy, request, ports)
  const named = failures.map(({ message, reason }) => ({
    reason,
    message: `ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${binding.metadata.name}' denied request: ${message}`,
  }))
  const [first] = named
  if (first !== undefined && validationActions.includes('Deny')) throw refusal(request, first)
  return validationActions.includes('Warn')
    ? named.map(({ message }) => message.replace(' denied request: ', ' failed: '))
    : []
}

const anything = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }]

function isWanted(match: MatchResources | undefined, request: AdmissionRequest, scope: MatchScope): boolean {
  const isNamed = ({ resourceNames = [] }: { readonly resourceNames?: readonly string[] }) =>
    resourceNames.length === 0 || resourceNames.includes(request.key.name)
  const { resourceRules = [], excludeResourceRules = [], ...selectors } = match ?? {}
  if (excludeResourceRules.some((rule) => isNamed(rule) && isRuledBy(rule, request))) return false
  const webhook = { ...selectors, rules: resourceRules.filter(isNamed) }
  return matchedResource({ webhook, request, uid: '', scope }) !== undefined
}

interface Failure {
  readonly message: string
  readonly reason: string
}

function failuresOf(policy: AdmissionPolicy, request: AdmissionRequest, ports: AdmissionPolicyPorts): Failure[] {
  const { matchConditions = [], variables = [], validations = [], failurePolicy, paramKind } = policy.spec ?? {}
  const isOpen = failurePolicy === 'Ignore'
  const failed = (error: unknown): Failure[] =>
    isOpen ? [] : [{ message: (error as Error).message, reason: 'Invalid' }]
  if (paramKind !== undefined) return failed(new Error('parameters of policies are not known to the embedded cluster'))
  const values = valuesOf(request, ports)
  try {
    if (!matchConditions.every(({ expression }) => evaluatePolicyExpression(expression, values) === true)) return []
  } catch (error) {
    return failed(error)
  }
  for (const { name, expression } of variables) {
    try {
      values.variables[name] = evaluatePolicyExpression(expression, values)
    } catch {
      // Nothing has asked for it yet; whoever does finds that it is not there.
    }
  }
  return validations.flatMap((validation) => {
    try {
      if (evaluatePolicyExpression(validation.expression, values) === true) return []
      return [{ message: messageOf(validation, values), reason: validation.reason ?? 'Invalid' }]
    } catch (error) {
      return failed(error)
    }
  })
}

function valuesOf(request: AdmissionRequest, { isAllowed }: AdmissionPolicyPorts): PolicyValues {
  const { object, oldObject, ...rest } = reviewRequest({ request, matched: request.type, uid: '' })
  return {
    request: celValue(rest),
    object: celValue(object),
    oldObject: celValue(oldObject),
    authorizer: new CelAuthorizer((attributes) => isAllowed(request.user, attributes)),
    variables: {},
  }
}

function messageOf({ expression, message, messageExpression }: PolicyValidation, values: PolicyValues): string {
  const fixed = message?.trim() ?? `failed expression: ${expression.trim()}`
  if (messageExpression === undefined) return fixed
  try {
    const text = evaluatePolicyExpression(messageExpression, values)
    return typeof text === 'string' && text.trim() !== '' && !text.includes('\n') ? text.trim() : fixed
  } catch {
    return fixed
  }
}

const codes: Readonly<Record<string, number>> = { Unauthorized: 401, Forbidden: 403, RequestEntityTooLarge: 413 }

function refusal({ type, key }: AdmissionRequest, { message, reason }: Failure): ApiError {
  const { message: text, details } = forbidden(type, key.name, message, [{ message }])
  return new ApiError(reason, text, { code: codes[reason] ?? 422, ...(details === undefined ? {} : { details }) })
}
