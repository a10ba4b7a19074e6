import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { lockedLabel } from '../eviction-guard/domain/namespace-labels.ts'
import { appLockAnnotation } from '../shared/app-lock-annotation.ts'
import { breakGlassAnnotation } from '../shared/break-glass-annotation.ts'
import { nodeDisruptions } from '../shared/kinds/node-disruption.ts'
import { askedByAnnotation } from '../shared/made-for.ts'
import { requestPolicyName } from '../shared/request-policy.ts'
import { operatorLabels as labels, operatorAccount } from './operator-manifests.ts'

const operatorUser = `system:serviceaccount:${operatorAccount.namespace}:${operatorAccount.name}`
const longestLock = 4096

/** Further verbs on NodeDisruptions, which only these policies ask for. */
const verbs = { forOthers: 'request-for-others', breakGlass: 'break-glass' } as const

/** Who may ask in whose name: what RBAC cannot say, since it knows no fields. Kubernetes 1.30 or newer evaluates them itself. */
export function buildAdmissionPolicies(): JsonObject[] {
  return [...policy(requests), ...policy(appLocks), ...policy(namespaceLabels), ...buildRequestRoles()]
}

interface PolicyText {
  readonly name: string
  readonly rule: { readonly group: string; readonly version: string; readonly resource: string }
  readonly matchConditions: JsonObject[]
  readonly variables: JsonObject[]
  readonly validations: JsonObject[]
}

/** Not `in` a list: the API server refuses one that holds text beside values of a type that it does not know. */
const isOneOf = (value: string, ...others: readonly string[]) =>
  others.map((other) => `${value} == ${other}`).join(' || ')

const quoted = (text: string) => `'${text}'`

/** An annotation, or nothing, of the object as it will be or as it was. */
const annotation = (object: 'object' | 'oldObject', key: string) => valueAt(object, 'annotations', key)

function valueAt(object: 'object' | 'oldObject', field: 'annotations' | 'labels', key: string): string {
  const at = `${object}.metadata.${field}`
  const isThere = `has(${at}) && ${quoted(key)} in ${at}`
  // What is created has no former state.
  const guard = object === 'oldObject' ? `oldObject != null && ${isThere}` : isThere
  return `${guard} ? ${at}[${quoted(key)}] : ''`
}

const notTheOperator = {
  name: 'not-the-operator',
  expression: `request.userInfo.username != ${quoted(operatorUser)}`,
}
const mayUse = (verb: string) =>
  `authorizer.group(${quoted(nodeDisruptions.group)}).resource(${quoted(nodeDisruptions.plural)}).check(${quoted(verb)}).allowed()`

const requests: PolicyText = {
  name: requestPolicyName,
  rule: { group: nodeDisruptions.group, version: nodeDisruptions.version, resource: nodeDisruptions.plural },
  matchConditions: [notTheOperator],
  variables: [
    { name: 'requester', expression: "has(object.spec.requester) ? object.spec.requester : ''" },
    {
      name: 'formerRequester',
      expression: "oldObject != null && has(oldObject.spec.requester) ? oldObject.spec.requester : ''",
    },
    { name: 'override', expression: annotation('object', breakGlassAnnotation) },
    { name: 'formerOverride', expression: annotation('oldObject', breakGlassAnnotation) },
    { name: 'askedBy', expression: annotation('object', askedByAnnotation) },
    { name: 'formerAskedBy', expression: annotation('oldObject', askedByAnnotation) },
    {
      name: 'breaksNothingNew',
      expression: "variables.override == '' || variables.override == variables.formerOverride",
    },
  ],
  validations: [
    {
      expression: `${isOneOf('variables.requester', "''", 'variables.formerRequester', 'request.userInfo.username')} || ${mayUse(verbs.forOthers)}`,
      messageExpression: `'spec.requester must be your user name, ' + request.userInfo.username + '; the verb ${verbs.forOthers} on nodedisruptions.cofferdam.io allows others'`,
      reason: 'Forbidden',
    },
    {
      expression: `variables.breaksNothingNew || ${mayUse(verbs.breakGlass)}`,
      message: `break-glass needs the verb ${verbs.breakGlass} on nodedisruptions.cofferdam.io`,
      reason: 'Forbidden',
    },
    {
      // The three fields and no more, in their order: a name that stands there twice would count as its second value.
      expression: `variables.breaksNothingNew || variables.override.matches('^[{]"by":"[^"\\\\\\\\]*","reason":"([^"\\\\\\\\]|\\\\\\\\.)*","until":"[^"\\\\\\\\]*"[}]$')`,
      message: `annotation ${breakGlassAnnotation} must be {"by":"…","reason":"…","until":"…"}, without spaces between`,
    },
    {
      expression: `variables.breaksNothingNew || variables.override.startsWith('{"by":"' + request.userInfo.username + '","reason":"') || ${mayUse(verbs.forOthers)}`,
      messageExpression: `'"by" in annotation ${breakGlassAnnotation} must be your user name, ' + request.userInfo.username`,
      reason: 'Forbidden',
    },
    {
      expression: isOneOf('variables.askedBy', "''", 'variables.formerAskedBy'),
      message: `annotation ${askedByAnnotation} is set by the operator alone`,
      reason: 'Forbidden',
    },
  ],
}

const lock = annotation('object', appLockAnnotation)
const formerLock = annotation('oldObject', appLockAnnotation)

const appLocks: PolicyText = {
  name: 'cofferdam-app-locks',
  rule: { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' },
  // Budgets without a lock, and locks that stay as they are, are no matter of this policy whatever else it makes of them.
  matchConditions: [
    notTheOperator,
    { name: 'a-lock-is-written', expression: `!(${isOneOf(`(${lock})`, "''", `(${formerLock})`)})` },
  ],
  variables: [{ name: 'lock', expression: lock }],
  validations: [
    {
      expression: `size(variables.lock) <= ${longestLock} && (variables.lock.contains('"until"') || variables.lock.contains('"for"'))`,
      message: `annotation ${appLockAnnotation} must say "until" when or "for" how long, in ${longestLock} characters at most`,
    },
    {
      expression: `!variables.lock.contains('"system:') || variables.lock.contains('"holder":"' + request.userInfo.username + '"')`,
      messageExpression: `'the holder of a lock may be no account of the system but your own, ' + request.userInfo.username`,
      reason: 'Forbidden',
    },
    {
      expression: `size(variables.lock.split('"holder"')) <= 2 && !variables.lock.matches('\\\\\\\\u00[0-7]')`,
      message: `annotation ${appLockAnnotation} must name its holder once, in plain letters`,
    },
  ],
}

const label = valueAt('object', 'labels', lockedLabel)
const formerLabel = valueAt('oldObject', 'labels', lockedLabel)

const namespaceLabels: PolicyText = {
  name: 'cofferdam-namespace-labels',
  rule: { group: '', version: 'v1', resource: 'namespaces' },
  matchConditions: [notTheOperator, { name: 'the-label-changes', expression: `(${label}) != (${formerLabel})` }],
  variables: [],
  validations: [
    {
      expression: 'false',
      message: `label ${lockedLabel} is set and removed by the operator alone: with it evictions fail while no guard answers, without it they pass`,
      reason: 'Forbidden',
    },
  ],
}

function policy({ name, rule, matchConditions, variables, validations }: PolicyText): JsonObject[] {
  const { group, version, resource } = rule
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const resourceRules = [
    { apiGroups: [group], apiVersions: [version], operations: ['CREATE', 'UPDATE'], resources: [resource] },
  ]
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name, labels },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: { resourceRules },
        matchConditions,
        ...(variables.length === 0 ? {} : { variables }),
        validations,
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name, labels },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ]
}

/** For an administrator to bind: neither is bound to anybody. */
function buildRequestRoles(): JsonObject[] {
  return Object.values(verbs).map((verb) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `cofferdam-${verb}`, labels },
    rules: [{ apiGroups: [nodeDisruptions.group], resources: [nodeDisruptions.plural], verbs: [verb] }],
  }))
}
