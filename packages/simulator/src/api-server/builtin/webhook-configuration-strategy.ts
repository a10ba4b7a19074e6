import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { matchConditionProblem } from '../admission/match-conditions.ts'
import type { ValidatingWebhook, WebhookRule } from '../admission/webhook-configuration.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import type { FieldError } from '../schema/field-error.ts'
import { choiceErrors, invalidErrors, requiredError } from './field-rules.ts'
import { selectorErrors } from './labels-validation.ts'
import { qualifiedNameErrors, subdomainErrors } from './name-rules.ts'
import { withDefaults, withField, withItems } from './with-defaults.ts'

interface Configuration extends KubeObject {
  readonly webhooks?: readonly ValidatingWebhook[]
}

const webhookDefaults = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
}

export const webhookConfigurationStrategy: ResourceStrategy = {
  prepare(next: Configuration, previous: Configuration | undefined) {
    if (next.webhooks === undefined || next.webhooks === previous?.webhooks) return next
    return withField(next, 'webhooks', withItems(next.webhooks, completeWebhook))
  },

  validate(next: Configuration, previous: Configuration | undefined) {
    if (next.webhooks === previous?.webhooks) return []
    const errors: FieldError[] = []
    const names = new Set<string>()
    for (const [index, webhook] of (next.webhooks ?? []).entries()) {
      const field = `webhooks[${index}]`
      errors.push(...webhookErrors(webhook, field))
      if (names.has(webhook.name))
        errors.push({ kind: 'Duplicate', field: `${field}.name`, value: webhook.name, detail: '' })
      names.add(webhook.name)
    }
    return errors
  },
}

function completeWebhook(webhook: ValidatingWebhook): ValidatingWebhook {
  let next = withDefaults(webhook, webhookDefaults)
  if (next.rules !== undefined) {
    next = withField(
      next,
      'rules',
      withItems(next.rules, (rule) => withDefaults(rule, { scope: '*' })),
    )
  }
  const service = next.clientConfig?.service
  if (service === undefined || service.port !== undefined) return next
  return { ...next, clientConfig: { ...next.clientConfig, service: { ...service, port: 443 } } }
}

function webhookErrors(webhook: ValidatingWebhook, field: string): FieldError[] {
  const errors: FieldError[] = []
  const { name, timeoutSeconds, admissionReviewVersions = [], sideEffects } = webhook
  if (name) {
    const problems = subdomainErrors(name)
    errors.push(...invalidErrors(problems, name, `${field}.name`))
    if (problems.length === 0 && name.split('.').length < 3) {
      const detail = 'should be a domain with at least three segments separated by dots'
      errors.push({ kind: 'Invalid', field: `${field}.name`, value: name, detail })
    }
  }
  for (const [index, rule] of (webhook.rules ?? []).entries())
    errors.push(...ruleErrors(rule, `${field}.rules[${index}]`))
  errors.push(...choiceErrors(webhook.failurePolicy, ['Fail', 'Ignore'], `${field}.failurePolicy`))
  errors.push(...choiceErrors(webhook.matchPolicy, ['Equivalent', 'Exact'], `${field}.matchPolicy`))
  if (sideEffects === undefined) {
    errors.push(requiredError(`${field}.sideEffects`, 'must specify one of None, NoneOnDryRun'))
  } else errors.push(...choiceErrors(sideEffects, ['None', 'NoneOnDryRun'], `${field}.sideEffects`))
  if (timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > 30)) {
    const detail = 'the timeout value must be between 1 and 30 seconds'
    errors.push({ kind: 'Invalid', field: `${field}.timeoutSeconds`, value: timeoutSeconds, detail })
  }
  if (admissionReviewVersions.length === 0) {
    errors.push(requiredError(`${field}.admissionReviewVersions`, 'must specify one of v1, v1beta1'))
  } else if (!admissionReviewVersions.some((version) => version === 'v1' || version === 'v1beta1')) {
    const detail = 'must include at least one of v1, v1beta1'
    errors.push({ kind: 'Invalid', field: `${field}.admissionReviewVersions`, value: admissionReviewVersions, detail })
  }
  errors.push(...selectorErrors(webhook.namespaceSelector, `${field}.namespaceSelector`))
  errors.push(...selectorErrors(webhook.objectSelector, `${field}.objectSelector`))
  errors.push(
    ...clientErrors(webhook, `${field}.clientConfig`),
    ...conditionErrors(webhook, `${field}.matchConditions`),
  )
  return errors
}

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']

function ruleErrors(rule: WebhookRule, field: string): FieldError[] {
  const errors: FieldError[] = []
  for (const list of ['operations', 'apiGroups', 'apiVersions', 'resources'] as const) {
    const values = rule[list] ?? []
    if (values.length === 0) errors.push(requiredError(`${field}.${list}`))
    if (list !== 'resources' && values.length > 1 && values.includes('*')) {
      const detail = `if '*' is present, must not specify other ${nouns[list]}`
      errors.push({ kind: 'Invalid', field: `${field}.${list}`, value: values, detail })
    }
  }
  for (const [index, operation] of (rule.operations ?? []).entries()) {
    errors.push(...choiceErrors(operation, operations, `${field}.operations[${index}]`))
  }
  return [...errors, ...choiceErrors(rule.scope, ['*', 'Cluster', 'Namespaced'], `${field}.scope`)]
}

const nouns = { operations: 'operations', apiGroups: 'API groups', apiVersions: 'API versions' }

function clientErrors({ clientConfig }: ValidatingWebhook, field: string): FieldError[] {
  const { url, service } = clientConfig ?? {}
  if ((url === undefined) === (service === undefined)) {
    return [requiredError(field, 'exactly one of url or service is required')]
  }
  if (url === undefined) return []
  const invalid = (detail: string): FieldError[] => [{ kind: 'Invalid', field: `${field}.url`, value: url, detail }]
  if (!URL.canParse(url)) return invalid('url must be a valid URL; desired format: https://host[/path]')
  const { protocol, host, username, hash, search } = new URL(url)
  if (protocol !== 'https:') {
    return invalid(`'https' is the only allowed URL scheme; desired format: https://host[/path]`)
  }
  if (host === '') return invalid('host must be specified; desired format: https://host[/path]')
  if (username !== '') return invalid('user information is not permitted in the URL')
  if (hash !== '') return invalid('fragments are not permitted in the URL')
  return search === '' ? [] : invalid('query parameters are not permitted in the URL')
}

function conditionErrors({ matchConditions = [] }: ValidatingWebhook, field: string): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  for (const [index, { name, expression }] of matchConditions.entries()) {
    const place = `${field}[${index}]`
    if (name) errors.push(...invalidErrors(qualifiedNameErrors(name), name, `${place}.name`))
    if (names.has(name)) errors.push({ kind: 'Duplicate', field: `${place}.name`, value: name, detail: '' })
    names.add(name)
    const problem = expression ? matchConditionProblem(expression) : undefined
    if (problem !== undefined) {
      errors.push({ kind: 'Invalid', field: `${place}.expression`, value: expression, detail: problem })
    }
  }
  return errors
}
