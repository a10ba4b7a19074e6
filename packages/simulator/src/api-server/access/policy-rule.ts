import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { LabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'

/** What is asked: a verb on a resource, or, when `path` is given, a verb on a URL that is no resource. */
export interface AccessAttributes {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly path?: string
}

export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

export interface Role extends KubeObject {
  readonly rules?: readonly PolicyRule[] | null
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] }
}

export interface RoleSubject {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

export interface RoleBinding extends KubeObject {
  readonly subjects?: readonly RoleSubject[] | null
  readonly roleRef: { readonly kind: string; readonly name: string; readonly apiGroup?: string }
}

export function isAllowedBy(rule: PolicyRule, asked: AccessAttributes): boolean {
  if (!names(rule.verbs, asked.verb)) return false
  if (asked.path !== undefined) return coversPath(rule.nonResourceURLs ?? [], asked.path)
  return (
    names(rule.apiGroups, asked.group) &&
    coversResource(rule.resources ?? [], asked) &&
    ((rule.resourceNames ?? []).length === 0 || (rule.resourceNames ?? []).includes(asked.name ?? ''))
  )
}

function names(allowed: readonly string[] = [], asked: string): boolean {
  return allowed.includes('*') || allowed.includes(asked)
}

function coversResource(resources: readonly string[], { resource, subresource = '' }: AccessAttributes): boolean {
  if (subresource === '') return names(resources, resource)
  return names(resources, `${resource}/${subresource}`) || resources.includes(`*/${subresource}`)
}

function coversPath(paths: readonly string[], asked: string): boolean {
  return paths.some((path) => path === asked || (path.endsWith('*') && asked.startsWith(path.replace(/\*+$/, ''))))
}
