import type { AdmissionRequest } from './admission.ts'
import type { WebhookRule } from './webhook-configuration.ts'

export type Target = Pick<AdmissionRequest, 'operation' | 'type' | 'subresource'>

/** Whether a rule speaks of this operation on this resource. */
export function isRuledBy(rule: WebhookRule, { operation, type, subresource }: Target): boolean {
  return (
    has(rule.operations, operation) &&
    has(rule.apiGroups, type.group) &&
    has(rule.apiVersions, type.version) &&
    (rule.resources ?? []).some((pattern) => isResource(pattern, type.plural, subresource ?? '')) &&
    isInScope(rule.scope ?? '*', type.namespaced)
  )
}

function has(values: readonly string[] | undefined, value: string): boolean {
  return values !== undefined && (values.includes('*') || values.includes(value))
}

/** `pods` is pods and none of their subresources, `pods/*` is pods and all of them, `*` and `*\/*` likewise for everything. */
function isResource(pattern: string, plural: string, subresource: string): boolean {
  const [resource, part = ''] = pattern.split('/', 2) as [string, string | undefined]
  return (resource === '*' || resource === plural) && (part === '*' || part === subresource)
}

function isInScope(scope: string, namespaced: boolean): boolean {
  return scope === '*' || scope === (namespaced ? 'Namespaced' : 'Cluster')
}

const exempt = new Set([
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
])

/** Webhooks are never asked about webhook configurations: a broken one could not be taken away. */
export function isExempt({ type }: Target): boolean {
  return type.group === 'admissionregistration.k8s.io' && exempt.has(type.plural)
}
