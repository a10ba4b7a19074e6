import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import { invalidObject } from './schema/field-error.ts'

export interface EvictionPreconditions {
  readonly uid?: string
  readonly resourceVersion?: string
}

/** An eviction body that was understood. */
export interface ParsedEviction {
  /** The Eviction as validating admission sees it: always policy/v1, with its namespace and the query's dry run filled in. */
  readonly object: JsonObject
  readonly dryRun: boolean
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground'
  readonly preconditions: EvictionPreconditions
}

const expectedVersion = 'policy/v1'
const acceptedVersions: readonly string[] = [expectedVersion, 'policy/v1beta1']

/**
 * Reads the body of a POST to `pods/eviction`.
 *
 * @throws ApiError 400 when the body is not an Eviction of this pod, 422 when it asks for what no eviction may ask for
 */
export function parseEviction(key: ObjectKey, body: JsonObject, queryDryRun: boolean): ParsedEviction {
  checkKind(body)
  const metadata = isJsonObject(body['metadata']) ? body['metadata'] : {}
  const namespace = textOf(metadata, 'namespace', 'metadata.namespace')
  if (namespace !== undefined && namespace !== '' && namespace !== key.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  if ((textOf(metadata, 'name', 'metadata.name') ?? '') !== key.name) {
    throw badRequest('name in URL does not match name in Eviction object')
  }
  const options = deleteOptionsOf(body)
  if (options?.['ignoreStoreReadErrorWithClusterBreakingPotential'] === true) {
    throw invalidObject({ group: 'policy', kind: 'Eviction', name: key.name }, [
      {
        kind: 'Invalid',
        field: 'deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential',
        value: true,
        detail: 'can not be set for pod eviction, try after removing the option',
      },
    ])
  }
  const dryRun = agreedDryRun(options, queryDryRun)
  const gracePeriodSeconds = wholeNumberOf(options, 'gracePeriodSeconds')
  const propagationPolicy = options?.['propagationPolicy'] as ParsedEviction['propagationPolicy'] | null
  return {
    object: {
      ...body,
      apiVersion: expectedVersion,
      kind: 'Eviction',
      metadata: { ...metadata, ...(key.namespace === undefined ? {} : { namespace: key.namespace }) },
      // Without deleteOptions in the body the real server leaves the object as it came.
      ...(options === undefined ? {} : { deleteOptions: { ...options, ...(dryRun ? { dryRun: ['All'] } : {}) } }),
    },
    dryRun,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(typeof propagationPolicy === 'string' ? { propagationPolicy } : {}),
    preconditions: preconditionsOf(options),
  }
}

function checkKind(body: JsonObject): void {
  const apiVersion = body['apiVersion'] ?? expectedVersion
  const kind = body['kind'] ?? 'Eviction'
  if (typeof apiVersion !== 'string' || !acceptedVersions.includes(apiVersion)) {
    throw badRequest(
      `the API version in the data (${plainText(apiVersion)}) does not match the expected API version (${expectedVersion})`,
    )
  }
  if (kind !== 'Eviction') throw badRequest(`not a Eviction object: ${plainText(kind)}`)
}

function plainText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function deleteOptionsOf(body: JsonObject): JsonObject | undefined {
  const options = body['deleteOptions']
  if (options === undefined || options === null) return undefined
  if (!isJsonObject(options)) throw unreadable('deleteOptions', 'an object')
  return options
}

/** The dry run asked for in the query and the one in the body must not contradict each other. */
function agreedDryRun(options: JsonObject | undefined, queryDryRun: boolean): boolean {
  const inBody = options?.['dryRun'] ?? []
  if (!Array.isArray(inBody)) throw unreadable('deleteOptions.dryRun', 'a list')
  if (inBody.length === 0) return queryDryRun
  if (queryDryRun && !(inBody.length === 1 && inBody[0] === 'All')) {
    throw new ApiError('', `Non-matching dry-run options in request and content: [All] and [${inBody.join(' ')}]`, {
      code: 500,
    })
  }
  return true
}

function preconditionsOf(options: JsonObject | undefined): EvictionPreconditions {
  const asked = options?.['preconditions']
  if (!isJsonObject(asked)) return {}
  const uid = textOf(asked, 'uid', 'deleteOptions.preconditions.uid')
  const resourceVersion = textOf(asked, 'resourceVersion', 'deleteOptions.preconditions.resourceVersion')
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
}

function textOf(holder: JsonObject, field: string, path: string): string | undefined {
  const value = holder[field]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw unreadable(path, 'a string')
  return value
}

function wholeNumberOf(options: JsonObject | undefined, field: string): number | undefined {
  const value: Json | undefined = options?.[field]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isSafeInteger(value))
    throw unreadable(`deleteOptions.${field}`, 'an integer')
  return value
}

function unreadable(path: string, expected: string): ApiError {
  return badRequest(`Eviction in version "v1" cannot be handled as a Eviction: ${path} must be ${expected}`)
}

function badRequest(message: string): ApiError {
  return new ApiError('BadRequest', message)
}
