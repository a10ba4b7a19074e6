import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { LabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { WebhookRule } from './webhook-configuration.ts'

interface NamedRule extends WebhookRule {
  readonly resourceNames?: readonly string[]
}

export interface MatchResources {
  readonly resourceRules?: readonly NamedRule[]
  readonly excludeResourceRules?: readonly NamedRule[]
  readonly matchPolicy?: 'Equivalent' | 'Exact'
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
}

export interface PolicyValidation {
  readonly expression: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
}

interface NamedExpression {
  readonly name: string
  readonly expression: string
}

/** A ValidatingAdmissionPolicy, as it is stored. */
export interface AdmissionPolicy extends KubeObject {
  readonly spec?: {
    readonly paramKind?: object
    readonly matchConstraints?: MatchResources
    readonly matchConditions?: readonly NamedExpression[]
    readonly variables?: readonly NamedExpression[]
    readonly validations?: readonly PolicyValidation[]
    readonly failurePolicy?: 'Fail' | 'Ignore'
  }
}

/** What puts a policy into force. */
export interface AdmissionPolicyBinding extends KubeObject {
  readonly spec?: {
    readonly policyName?: string
    readonly matchResources?: MatchResources
    readonly validationActions?: readonly string[]
  }
}
