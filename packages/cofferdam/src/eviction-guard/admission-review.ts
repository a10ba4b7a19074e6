import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { harmlessText } from '../shared/harmless-text.ts'
import type { Reason } from '../shared/reasons.ts'

/** What is asked for of one pod: that it be evicted, or that it be deleted. */
export interface PodRemoval {
  readonly verb: 'evict' | 'delete'
  readonly namespace: string
  readonly name: string
  /** The pod the asker means; '' when any of that name will do. */
  readonly podUid: string
  readonly user: string
  readonly groups: readonly string[]
  readonly isDryRun: boolean
  /** Annotations of the Eviction; a deletion carries none. */
  readonly annotations: Readonly<Record<string, string>>
  /** The pod as it is; an eviction does not bring it along. */
  readonly pod: Pod | undefined
}

export type DecodedReview =
  | {
      readonly ok: true
      readonly uid: string
      /** Undefined: it is about something else, which the guard does not judge. */
      readonly removal: PodRemoval | undefined
    }
  | { readonly ok: false; readonly why: string }

/**
 * Reads an AdmissionReview.
 *
 * Fails closed: what asks for the removal of a pod but does not say of which one is refused as malformed, never let through.
 */
export function decodeReview(text: string): DecodedReview {
  let review: unknown
  try {
    review = JSON.parse(text)
  } catch {
    return malformed('the body is not JSON')
  }
  if (!isJsonObject(review) || review['kind'] !== 'AdmissionReview') return malformed('the body is no AdmissionReview')
  if (review['apiVersion'] !== 'admission.k8s.io/v1') {
    return malformed(`expected an AdmissionReview of admission.k8s.io/v1, got ${shown(review['apiVersion'])}`)
  }
  const { request } = review
  if (!isJsonObject(request)) return malformed('the AdmissionReview has no request')
  const { uid } = request
  if (typeof uid !== 'string' || uid === '') return malformed('the request has no uid')
  if (isEviction(request)) return decodeEviction(uid, request)
  if (isDeletion(request)) return decodeDeletion(uid, request)
  return { ok: true, uid, removal: undefined }
}

function isPods(request: JsonObject): boolean {
  const { resource } = request
  return isJsonObject(resource) && resource['group'] === '' && resource['resource'] === 'pods'
}

function isEviction(request: JsonObject): boolean {
  return isPods(request) && request['subResource'] === 'eviction' && request['operation'] === 'CREATE'
}

function isDeletion(request: JsonObject): boolean {
  const { subResource = '' } = request
  return isPods(request) && subResource === '' && request['operation'] === 'DELETE'
}

function decodeEviction(uid: string, request: JsonObject): DecodedReview {
  const { object } = request
  if (!isJsonObject(object)) return malformed('the request carries no Eviction')
  const { apiVersion, kind, metadata = {}, deleteOptions = {} } = object
  if (kind !== 'Eviction' || (apiVersion !== 'policy/v1' && apiVersion !== 'policy/v1beta1')) {
    return malformed(`expected an Eviction of policy/v1, got ${shown(apiVersion)}, Kind=${shown(kind)}`)
  }
  const meta = isJsonObject(metadata) ? metadata : {}
  const options = isJsonObject(deleteOptions) ? deleteOptions : {}
  const preconditions = isJsonObject(options['preconditions']) ? options['preconditions'] : {}
  return removalOf({
    uid,
    request,
    verb: 'evict',
    metadata: meta,
    podUid: textOf(preconditions['uid']),
    isDryRun: request['dryRun'] === true || (Array.isArray(options['dryRun']) && options['dryRun'].length > 0),
    pod: undefined,
  })
}

function decodeDeletion(uid: string, request: JsonObject): DecodedReview {
  const { oldObject } = request
  if (!isJsonObject(oldObject) || !isJsonObject(oldObject['metadata']) || !isJsonObject(oldObject['spec'])) {
    return malformed('the request to delete carries no Pod')
  }
  const pod = oldObject as unknown as Pod
  return removalOf({
    uid,
    request,
    verb: 'delete',
    metadata: oldObject['metadata'],
    podUid: textOf(oldObject['metadata']['uid']),
    isDryRun: request['dryRun'] === true,
    pod,
  })
}

interface Found {
  readonly uid: string
  readonly request: JsonObject
  readonly verb: PodRemoval['verb']
  readonly metadata: JsonObject
  readonly podUid: string
  readonly isDryRun: boolean
  readonly pod: Pod | undefined
}

function removalOf({ uid, request, verb, metadata, podUid, isDryRun, pod }: Found): DecodedReview {
  // A request for a whole collection names no pod, and some servers leave the namespace off the Eviction.
  const namespace = textOf(request['namespace']) || textOf(metadata['namespace'])
  const name = textOf(request['name']) || textOf(metadata['name'])
  if (namespace === '' || name === '') return malformed('the request does not say which pod it is about')
  const userInfo = isJsonObject(request['userInfo']) ? request['userInfo'] : {}
  const groups = Array.isArray(userInfo['groups']) ? userInfo['groups'] : []
  const removal: PodRemoval = {
    verb,
    namespace,
    name,
    podUid,
    user: textOf(userInfo['username']),
    groups: groups.filter((group) => typeof group === 'string'),
    isDryRun,
    annotations: verb === 'evict' ? textsOf(metadata['annotations']) : {},
    pod,
  }
  return { ok: true, uid, removal }
}

export type ReviewAnswer = { readonly allowed: true; readonly reason: Reason } | ReviewRefusal

export interface ReviewRefusal {
  readonly allowed: false
  readonly reason: Reason
  readonly message: string
  /** What stands in the way: `pdb/shop/web`. */
  readonly cause: string
}

/**
 * Writes the answer to a review.
 *
 * Guarantees: a refusal is 429 without a time to wait: every drainer tries again on 429, and a time to wait would make
 * clients sleep inside the call.
 */
export function encodeAnswer(uid: string, answer: ReviewAnswer): string {
  const { allowed, reason } = answer
  // kubectl prints it as it is, and owners of locks wrote parts of it.
  const message = answer.allowed ? '' : harmlessText(answer.message)
  const status = allowed
    ? {}
    : {
        status: {
          status: 'Failure',
          code: 429,
          reason: 'TooManyRequests',
          message,
          details: {
            causes: [
              {
                // The reason that the eviction API itself uses, which clients look for.
                reason: answer.cause.startsWith('pdb/') ? 'DisruptionBudget' : reason,
                message,
                field: harmlessText(answer.cause),
              },
            ],
          },
        },
      }
  return JSON.stringify({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    response: { uid, allowed, ...status, auditAnnotations: { verdict: reason } },
  })
}

function malformed(why: string): DecodedReview {
  return { ok: false, why }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

function textsOf(value: Json | undefined): Record<string, string> {
  if (!isJsonObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

/** What was found instead, cut short: it comes from outside. */
function shown(value: Json | undefined): string {
  return harmlessText((JSON.stringify(value) ?? 'nothing').slice(0, 100))
}
