import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { AdmissionRequest } from './admission.ts'

/** What one webhook is asked: the request, in the version the webhook's rules speak of. */
export interface AdmissionQuestion {
  readonly request: AdmissionRequest
  /** The resource under which the webhook's rule matched; the request's own unless an equivalent one did. */
  readonly matched: ResourceType
  readonly uid: string
}

/** The `request` of an AdmissionReview; match conditions see the same. */
export function reviewRequest({ request, matched, uid }: AdmissionQuestion): JsonObject {
  const { operation, type, subresource, key, kind, options, user, dryRun } = request
  const isConverted = matched !== type
  const seenKind = isConverted && kind.kind === type.kind ? kindOf(matched) : { ...kind }
  const part = subresource === undefined ? {} : { subResource: subresource, requestSubResource: subresource }
  return {
    uid,
    kind: seenKind,
    resource: resourceOf(matched),
    ...part,
    requestKind: { ...kind },
    requestResource: resourceOf(type),
    name: key.name,
    ...(key.namespace === undefined ? {} : { namespace: key.namespace }),
    operation,
    userInfo: {
      username: user.username,
      ...(user.uid === undefined ? {} : { uid: user.uid }),
      groups: user.groups,
    },
    object: asSeen(request.object, isConverted ? matched : undefined),
    oldObject: asSeen(request.oldObject, isConverted ? matched : undefined),
    dryRun,
    options: options ?? null,
  }
}

function kindOf({ group, version, kind }: ResourceType): JsonObject {
  return { group, version, kind }
}

function resourceOf({ group, version, plural }: ResourceType): JsonObject {
  return { group, version, resource: plural }
}

/** Versions of one resource differ in name only here, so to convert is to rename. */
function asSeen(object: unknown, as: ResourceType | undefined): JsonObject | null {
  if (!isJsonObject(object)) return null
  if (as === undefined) return object
  return { ...object, apiVersion: as.group === '' ? as.version : `${as.group}/${as.version}` }
}

export interface AdmissionAnswer {
  readonly allowed: boolean
  readonly status: JsonObject | undefined
  readonly warnings: readonly string[]
}

/**
 * Reads what a webhook answered.
 *
 * Fails closed: whatever is not clearly an answer to this very question is an error, never a yes.
 *
 * @throws Error that says what is wrong with the answer
 */
export function parseReview(
  text: string,
  expected: { readonly uid: string; readonly apiVersion: string },
): AdmissionAnswer {
  const review: unknown = JSON.parse(text)
  if (!isJsonObject(review)) throw new Error('expected an AdmissionReview, got something else')
  const { apiVersion, kind, response } = review
  if (apiVersion !== expected.apiVersion || kind !== 'AdmissionReview') {
    const found = `${JSON.stringify(apiVersion ?? '')}, Kind=${JSON.stringify(kind ?? '')}`
    throw new Error(`expected webhook response of ${expected.apiVersion}, Kind=AdmissionReview, got ${found}`)
  }
  if (!isJsonObject(response)) throw new Error('webhook response was absent')
  if (response['uid'] !== expected.uid) {
    throw new Error(
      `expected response.uid=${JSON.stringify(expected.uid)}, got ${JSON.stringify(response['uid'] ?? '')}`,
    )
  }
  if (typeof response['allowed'] !== 'boolean' && response['allowed'] !== undefined) {
    throw new Error('expected response.allowed to be true or false')
  }
  if (response['patch'] !== undefined && response['patch'] !== null) {
    throw new Error('a validating webhook may not patch')
  }
  const { status, warnings } = response
  return {
    allowed: response['allowed'] === true,
    status: isJsonObject(status) ? status : undefined,
    warnings: Array.isArray(warnings) ? warnings.filter((warning) => typeof warning === 'string') : [],
  }
}
