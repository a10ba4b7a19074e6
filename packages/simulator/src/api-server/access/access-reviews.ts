import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { type FieldError, invalidObject } from '../schema/field-error.ts'
import type { UserInfo } from '../user-info.ts'
import type { AccessAttributes, PolicyRule } from './policy-rule.ts'
import type { RbacAuthorizer } from './rbac-authorizer.ts'

/** May the asker do this? */
export function answerSelfSubjectAccessReview(
  authorizer: Pick<RbacAuthorizer, 'decide'>,
  question: JsonObject,
  asker: UserInfo,
): JsonObject {
  const spec = objectAt(question, 'spec') ?? {}
  refuseIfInvalid('SelfSubjectAccessReview', scopeErrors(spec))
  return answered(question, authorizer, asker, spec)
}

/** May somebody else do this? */
export function answerSubjectAccessReview(
  authorizer: Pick<RbacAuthorizer, 'decide'>,
  question: JsonObject,
): JsonObject {
  const spec = objectAt(question, 'spec') ?? {}
  refuseIfInvalid('SubjectAccessReview', [...scopeErrors(spec), ...subjectErrors(spec)])
  return answered(question, authorizer, subjectIn(spec), spec)
}

/** May somebody else do this in one namespace? */
export function answerLocalSubjectAccessReview(
  authorizer: Pick<RbacAuthorizer, 'decide'>,
  question: JsonObject,
  namespace: string,
): JsonObject {
  const spec = objectAt(question, 'spec') ?? {}
  const attributes = objectAt(spec, 'resourceAttributes')
  const errors: FieldError[] = [...scopeErrors(spec), ...subjectErrors(spec)]
  if (attributes !== undefined && textAt(attributes, 'namespace') !== namespace) {
    errors.push({
      kind: 'Invalid',
      field: 'spec.resourceAttributes.namespace',
      value: textAt(attributes, 'namespace'),
      detail: 'must match metadata.namespace',
    })
  }
  if (spec['nonResourceAttributes'] !== undefined) {
    errors.push({
      kind: 'Invalid',
      field: 'spec.nonResourceAttributes',
      value: spec['nonResourceAttributes'],
      detail: 'disallowed on this kind of request',
    })
  }
  refuseIfInvalid('LocalSubjectAccessReview', errors)
  return answered(question, authorizer, subjectIn(spec), spec)
}

/** What may the asker do in this namespace? */
export function answerSelfSubjectRulesReview(
  authorizer: Pick<RbacAuthorizer, 'rulesFor'>,
  question: JsonObject,
  asker: UserInfo,
): JsonObject {
  const namespace = textAt(objectAt(question, 'spec') ?? {}, 'namespace')
  if (namespace === '') throw new ApiError('BadRequest', 'no namespace on request')
  const rules = authorizer.rulesFor(asker, namespace)
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    metadata: {},
    spec: {},
    status: {
      resourceRules: rules.filter(({ resources }) => (resources ?? []).length > 0).map(resourceRule),
      nonResourceRules: rules
        .filter(({ nonResourceURLs }) => (nonResourceURLs ?? []).length > 0)
        .map(({ verbs, nonResourceURLs = [] }) => ({ verbs, nonResourceURLs })),
      incomplete: false,
    },
  }
}

/** Who am I? */
export function answerSelfSubjectReview(question: JsonObject, asker: UserInfo, now: string): JsonObject {
  return {
    apiVersion: question['apiVersion'] ?? 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
    metadata: { creationTimestamp: now },
    status: {
      userInfo: {
        username: asker.username,
        ...(asker.uid === undefined ? {} : { uid: asker.uid }),
        groups: asker.groups,
      },
    },
  }
}

function resourceRule({ verbs, apiGroups, resources, resourceNames }: PolicyRule): JsonObject {
  return {
    verbs,
    ...(apiGroups === undefined ? {} : { apiGroups }),
    ...(resources === undefined ? {} : { resources }),
    ...(resourceNames === undefined ? {} : { resourceNames }),
  }
}

function answered(
  question: JsonObject,
  authorizer: Pick<RbacAuthorizer, 'decide'>,
  user: UserInfo,
  spec: JsonObject,
): JsonObject {
  const { allowed, reason } = authorizer.decide(user, attributesIn(spec))
  const metadata = objectAt(question, 'metadata') ?? {}
  return { ...question, metadata, status: { allowed, ...(reason === '' ? {} : { reason }) } }
}

function attributesIn(spec: JsonObject): AccessAttributes {
  const urls = objectAt(spec, 'nonResourceAttributes')
  if (urls !== undefined) {
    return { verb: textAt(urls, 'verb'), group: '', resource: '', path: textAt(urls, 'path') }
  }
  const attributes = objectAt(spec, 'resourceAttributes') ?? {}
  const optional = (['subresource', 'namespace', 'name'] as const)
    .map((field) => [field, textAt(attributes, field)] as const)
    .filter(([, value]) => value !== '')
  return {
    verb: textAt(attributes, 'verb'),
    group: textAt(attributes, 'group'),
    resource: textAt(attributes, 'resource'),
    ...Object.fromEntries(optional),
  }
}

function subjectIn(spec: JsonObject): UserInfo {
  const uid = textAt(spec, 'uid')
  return { username: textAt(spec, 'user'), groups: groupsIn(spec), ...(uid === '' ? {} : { uid }) }
}

function groupsIn(spec: JsonObject): readonly string[] {
  const groups = spec['groups']
  return Array.isArray(groups) ? groups.filter((group): group is string => typeof group === 'string') : []
}

function scopeErrors(spec: JsonObject): FieldError[] {
  const onResource = objectAt(spec, 'resourceAttributes')
  const onUrl = objectAt(spec, 'nonResourceAttributes')
  if (onResource !== undefined && onUrl !== undefined) {
    const detail = 'cannot be specified in combination with resourceAttributes'
    return [{ kind: 'Invalid', field: 'spec.nonResourceAttributes', value: onUrl, detail }]
  }
  if (onResource !== undefined || onUrl !== undefined) return []
  const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  return [{ kind: 'Invalid', field: 'spec.resourceAttributes', value: null, detail }]
}

function subjectErrors(spec: JsonObject): FieldError[] {
  if (textAt(spec, 'user') !== '' || groupsIn(spec).length > 0) return []
  return [{ kind: 'Invalid', field: 'spec.user', value: '', detail: 'at least one of user or group must be specified' }]
}

function refuseIfInvalid(kind: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject({ group: 'authorization.k8s.io', kind, name: '' }, errors)
}

function objectAt(holder: JsonObject, field: string): JsonObject | undefined {
  const value: Json | undefined = holder[field]
  return isJsonObject(value) ? value : undefined
}

function textAt(holder: JsonObject, field: string): string {
  const value = holder[field]
  return typeof value === 'string' ? value : ''
}
