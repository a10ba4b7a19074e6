import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import type { FieldError } from '../schema/field-error.ts'
import { choiceErrors, requiredError } from './field-rules.ts'
import { withDefaults, withField, withItems } from './with-defaults.ts'

const rbacGroup = 'rbac.authorization.k8s.io'

interface Rule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

interface Role extends KubeObject {
  readonly rules?: readonly Rule[]
}

export const roleStrategy: ResourceStrategy = {
  validate: (next: Role) => (next.rules ?? []).flatMap((rule, index) => ruleErrors(rule, `rules[${index}]`, true)),
}

export const clusterRoleStrategy: ResourceStrategy = {
  validate: (next: Role) => (next.rules ?? []).flatMap((rule, index) => ruleErrors(rule, `rules[${index}]`, false)),
}

function ruleErrors(rule: Rule, field: string, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = []
  if ((rule.verbs ?? []).length === 0)
    errors.push(requiredError(`${field}.verbs`, 'verbs must contain at least one value'))
  if ((rule.nonResourceURLs ?? []).length > 0) {
    if (namespaced) {
      const detail = 'namespaced rules cannot apply to non-resource URLs'
      errors.push({ kind: 'Invalid', field: `${field}.nonResourceURLs`, value: rule.nonResourceURLs, detail })
    }
    if ((rule.apiGroups ?? []).length + (rule.resources ?? []).length > 0) {
      const detail = 'rules cannot apply to both regular resources and non-resource URLs'
      errors.push({ kind: 'Invalid', field: `${field}.nonResourceURLs`, value: rule.nonResourceURLs, detail })
    }
    return errors
  }
  if ((rule.apiGroups ?? []).length === 0) {
    errors.push(requiredError(`${field}.apiGroups`, 'resource rules must supply at least one api group'))
  }
  if ((rule.resources ?? []).length === 0) {
    errors.push(requiredError(`${field}.resources`, 'resource rules must supply at least one resource'))
  }
  return errors
}

interface Subject {
  readonly kind?: string
  readonly name?: string
  readonly namespace?: string
  readonly apiGroup?: string
}

interface RoleBinding extends KubeObject {
  readonly roleRef?: { readonly apiGroup?: string; readonly kind?: string; readonly name?: string }
  readonly subjects?: readonly Subject[]
}

export const roleBindingStrategy = bindingStrategy(['ClusterRole', 'Role'])
export const clusterRoleBindingStrategy = bindingStrategy(['ClusterRole'])

function bindingStrategy(roleKinds: readonly string[]): ResourceStrategy {
  return {
    prepare(next: RoleBinding) {
      let prepared = next
      if (next.roleRef !== undefined) {
        prepared = withField(prepared, 'roleRef', withDefaults(next.roleRef, { apiGroup: rbacGroup }))
      }
      if (next.subjects !== undefined) {
        prepared = withField(prepared, 'subjects', withItems(next.subjects, completeSubject))
      }
      return prepared
    },

    validate(next: RoleBinding, previous: RoleBinding | undefined) {
      const errors: FieldError[] = []
      const { roleRef, subjects = [] } = next
      if (previous !== undefined && !isSameJson(roleRef, previous.roleRef)) {
        errors.push({ kind: 'Invalid', field: 'roleRef', value: roleRef, detail: 'cannot change roleRef' })
      }
      errors.push(...choiceErrors(roleRef?.apiGroup, [rbacGroup], 'roleRef.apiGroup'))
      errors.push(...choiceErrors(roleRef?.kind, roleKinds, 'roleRef.kind'))
      if (!roleRef?.name) errors.push(requiredError('roleRef.name'))
      for (const [index, subject] of subjects.entries()) errors.push(...subjectErrors(subject, `subjects[${index}]`))
      return errors
    },
  }
}

function completeSubject(subject: Subject): Subject {
  if (subject.kind === 'ServiceAccount') return subject
  return withDefaults(subject, { apiGroup: rbacGroup })
}

function subjectErrors(subject: Subject, field: string): FieldError[] {
  const errors = choiceErrors(subject.kind, ['Group', 'ServiceAccount', 'User'], `${field}.kind`)
  if (subject.kind === 'ServiceAccount' && !subject.namespace) errors.push(requiredError(`${field}.namespace`))
  return errors
}
