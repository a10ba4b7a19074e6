import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { isSelected, type LabelSelector, type Labels } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { isEmptySelector } from '../builtin/labels-validation.ts'
import type { AdmissionRequest } from './admission.ts'
import { reviewRequest } from './admission-review.ts'
import { evaluateConditions } from './match-conditions.ts'
import type { ValidatingWebhook } from './webhook-configuration.ts'
import { isRuledBy } from './webhook-rules.ts'

export interface MatchScope {
  namespaceLabels(name: string): Labels | undefined
  equivalents(type: ResourceType): readonly ResourceType[]
}

type Matching = Pick<
  ValidatingWebhook,
  'rules' | 'matchPolicy' | 'objectSelector' | 'namespaceSelector' | 'matchConditions' | 'failurePolicy'
>

export interface MatchQuestion {
  readonly webhook: Matching
  readonly request: AdmissionRequest
  /** The uid the review would have. */
  readonly uid: string
  readonly scope: MatchScope
}

/**
 * The resource under which a webhook wants to see a request, or undefined when it does not want to.
 *
 * @throws ApiError 403 when a match condition cannot be evaluated and the webhook fails closed
 */
export function matchedResource({ webhook, request, uid, scope }: MatchQuestion): ResourceType | undefined {
  const matched = ruledResource(webhook, request, scope)
  if (matched === undefined) return undefined
  if (!isObjectSelected(webhook.objectSelector, request)) return undefined
  if (!isNamespaceSelected(webhook.namespaceSelector, request, scope)) return undefined
  if ((webhook.matchConditions ?? []).length === 0) return matched
  const review = reviewRequest({ request, matched, uid })
  const { object, oldObject, ...rest } = review
  const outcome = evaluateConditions(webhook.matchConditions, { request: rest, object, oldObject })
  if (outcome.error !== undefined) {
    if (webhook.failurePolicy === 'Ignore') return undefined
    throw unreadable(request, outcome.error)
  }
  return outcome.matches ? matched : undefined
}

/** The request's own resource where a rule names it; else another under which the same objects are served. */
function ruledResource(
  { rules = [], matchPolicy }: Matching,
  request: AdmissionRequest,
  scope: MatchScope,
): ResourceType | undefined {
  if (rules.some((rule) => isRuledBy(rule, request))) return request.type
  if (matchPolicy === 'Exact') return undefined
  return scope.equivalents(request.type).find((type) => rules.some((rule) => isRuledBy(rule, { ...request, type })))
}

/** The object as it will be or as it was: leaving a label off does not slip past the webhook. */
function isObjectSelected(selector: LabelSelector | undefined, { object, oldObject }: AdmissionRequest): boolean {
  if (selector === undefined || isEmptySelector(selector)) return true
  return [object, oldObject].some((each) => {
    const labels = labelsOf(each)
    return labels !== undefined && isSelected(selector, labels)
  })
}

function isNamespaceSelected(
  selector: LabelSelector | undefined,
  request: AdmissionRequest,
  scope: MatchScope,
): boolean {
  if (selector === undefined || isEmptySelector(selector)) return true
  const { type, key, operation, subresource, object } = request
  const isNamespace = type.group === '' && type.plural === 'namespaces'
  const name = isNamespace ? key.name : key.namespace
  if (name === undefined) return true
  const isWritten = isNamespace && subresource === undefined && (operation === 'CREATE' || operation === 'UPDATE')
  const labels = isWritten ? (labelsOf(object) ?? {}) : scope.namespaceLabels(name)
  if (labels === undefined) {
    throw new ApiError('NotFound', `namespaces ${JSON.stringify(name)} not found`, {
      details: { name, kind: 'namespaces' },
    })
  }
  return isSelected(selector, labels)
}

function labelsOf(object: unknown): Labels | undefined {
  if (!isJsonObject(object) || !isJsonObject(object['metadata'])) return undefined
  return (object['metadata']['labels'] ?? {}) as Labels
}

function unreadable({ type, key }: AdmissionRequest, why: string): ApiError {
  const resource = type.group === '' ? type.plural : `${type.plural}.${type.group}`
  return new ApiError('Forbidden', `${resource} ${JSON.stringify(key.name)} is forbidden: ${why}`, {
    details: { name: key.name, ...(type.group === '' ? {} : { group: type.group }), kind: type.plural },
  })
}
