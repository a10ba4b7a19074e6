import type { Json, JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { DeleteOptions, ListQuery, WatchQuery, WriteOptions } from '@cofferdam/kubernetes/client/kube-api.ts'
import { badRequest } from '../registry/api-errors.ts'
import { type FieldError, invalidObject } from '../schema/field-error.ts'
import type { Exchange } from './exchange.ts'

const longestManager = 128
const validations = ['Ignore', 'Warn', 'Strict'] as const
const policies = ['Foreground', 'Background', 'Orphan'] as const

export type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions'

/** dryRun, fieldManager and fieldValidation of a write. */
export function writeOptions({ query, request, signal }: Exchange, kind: OptionsKind): WriteOptions {
  const dryRun = dryRunOf(query.getAll('dryRun'), kind)
  const given = query.get('fieldManager') ?? ''
  if (given.length > longestManager) {
    const detail = `may not be more than ${longestManager} bytes`
    throw invalidOptions(kind, [{ kind: 'TooLong', field: 'fieldManager', detail }])
  }
  const fieldManager = given || managerOf(request.headers['user-agent'])
  const fieldValidation = validationOf(query.get('fieldValidation'), kind)
  return {
    signal,
    ...(dryRun ? { dryRun } : {}),
    ...(fieldManager === '' ? {} : { fieldManager }),
    ...(fieldValidation === undefined ? {} : { fieldValidation }),
  }
}

/** As the real server names who did not name itself: `kubectl` of `kubectl/v1.36.4 (linux/amd64)`. */
function managerOf(userAgent: string | undefined): string {
  return ((userAgent ?? '').split('/')[0] || 'unknown').slice(0, longestManager)
}

function dryRunOf(values: readonly Json[], kind: OptionsKind): boolean {
  const wrong = values.filter((value) => value !== 'All' && value !== '')
  if (wrong.length > 0) {
    const detail = 'supported values: "All"'
    throw invalidOptions(kind, [{ kind: 'NotSupported', field: 'dryRun', value: wrong, detail }])
  }
  return values.includes('All')
}

function validationOf(given: string | null, kind: OptionsKind): WriteOptions['fieldValidation'] {
  if (given === null || given === '') return undefined
  const known = validations.find((validation) => validation === given)
  if (known === undefined)
    throw invalidOptions(kind, [notSupported('fieldValidation', given, ['', 'Ignore', 'Strict', 'Warn'])])
  return known
}

function notSupported(field: string, value: Json, supported: readonly string[]): FieldError {
  const list = supported.map((item) => JSON.stringify(item)).join(', ')
  return { kind: 'NotSupported', field, value, detail: `supported values: ${list}` }
}

export function invalidOptions(kind: OptionsKind, errors: readonly FieldError[]) {
  return invalidObject({ group: 'meta.k8s.io', kind, name: '' }, errors)
}

export function listQuery(exchange: Exchange, namespace: string | undefined): ListQuery {
  const { query, signal } = exchange
  const limit = wholeNumber(query, 'limit')
  const match = query.get('resourceVersionMatch')
  return {
    ...selection(exchange, namespace),
    signal,
    ...(limit === undefined || limit === 0 ? {} : { limit }),
    ...optional('continueToken', query.get('continue')),
    ...optional('resourceVersion', query.get('resourceVersion')),
    ...optional('resourceVersionMatch', match as ListQuery['resourceVersionMatch'] | null),
  }
}

export function watchQuery(exchange: Exchange, namespace: string | undefined): WatchQuery {
  const { query, signal } = exchange
  const timeoutSeconds = wholeNumber(query, 'timeoutSeconds')
  const sendInitialEvents = query.get('sendInitialEvents')
  return {
    ...selection(exchange, namespace),
    signal,
    ...optional('resourceVersion', query.get('resourceVersion')),
    ...optional('resourceVersionMatch', query.get('resourceVersionMatch') as WatchQuery['resourceVersionMatch'] | null),
    ...(isTrue(query.get('allowWatchBookmarks')) ? { allowBookmarks: true } : {}),
    ...(sendInitialEvents === null ? {} : { sendInitialEvents: isTrue(sendInitialEvents) }),
    ...(timeoutSeconds === undefined || timeoutSeconds === 0 ? {} : { timeoutSeconds }),
  }
}

function selection({ query }: Exchange, namespace: string | undefined) {
  return {
    ...optional('namespace', namespace),
    ...optional('labelSelector', query.get('labelSelector')),
    ...optional('fieldSelector', query.get('fieldSelector')),
  }
}

function optional<K extends string, V extends string>(field: K, value: V | null | undefined): { [key in K]?: V } {
  return (value === null || value === undefined || value === '' ? {} : { [field]: value }) as { [key in K]?: V }
}

/** A flag as Go reads one from a query: present and empty counts as true. */
export function isTrue(value: string | null): boolean {
  return value !== null && !['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(value)
}

function wholeNumber(query: URLSearchParams, field: string): number | undefined {
  const text = query.get(field)
  if (text === null || text === '') return undefined
  if (!/^-?[0-9]{1,15}$/.test(text)) throw badRequest(`${field} must be a whole number, not ${JSON.stringify(text)}`)
  return Number(text)
}

/** From the query, and from a DeleteOptions body, which takes precedence. */
export function deleteOptions(exchange: Exchange, body: Json | undefined): DeleteOptions & { waits: boolean } {
  const { query, signal } = exchange
  if (body !== undefined && body !== null && !isJsonObject(body)) throw badRequest('DeleteOptions must be an object')
  const given: JsonObject = { ...queriedDeleteOptions(query), ...withoutNulls(body ?? {}) }
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions, dryRun } = given
  const errors: FieldError[] = []
  if (gracePeriodSeconds !== undefined && !Number.isSafeInteger(gracePeriodSeconds)) {
    throw badRequest('gracePeriodSeconds must be a whole number')
  }
  if (dryRun !== undefined && !Array.isArray(dryRun)) throw badRequest('dryRun must be a list')
  if (propagationPolicy !== undefined && !policies.some((policy) => policy === propagationPolicy)) {
    errors.push(notSupported('propagationPolicy', propagationPolicy, [...policies, 'nil']))
  }
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    const detail = 'orphanDependents and deletionPropagation cannot be both set'
    errors.push({ kind: 'Invalid', field: 'propagationPolicy', value: propagationPolicy, detail })
  }
  if (errors.length > 0) throw invalidOptions('DeleteOptions', errors)
  const policy = propagationPolicy ?? policyOf(orphanDependents)
  return {
    signal,
    waits: orphanDependents === false,
    ...(dryRunOf((dryRun as Json[] | undefined) ?? [], 'DeleteOptions') ? { dryRun: true } : {}),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: gracePeriodSeconds as number }),
    ...(policy === undefined ? {} : { propagationPolicy: policy as (typeof policies)[number] }),
    ...(isJsonObject(preconditions) ? { preconditions: withoutNulls(preconditions) } : {}),
  }
}

function queriedDeleteOptions(query: URLSearchParams): JsonObject {
  const gracePeriodSeconds = wholeNumber(query, 'gracePeriodSeconds')
  const orphanDependents = query.get('orphanDependents')
  return {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...optional('propagationPolicy', query.get('propagationPolicy')),
    ...(orphanDependents === null ? {} : { orphanDependents: isTrue(orphanDependents) }),
    ...(query.has('dryRun') ? { dryRun: query.getAll('dryRun') } : {}),
  }
}

function policyOf(orphanDependents: Json | undefined): string | undefined {
  if (orphanDependents === undefined) return undefined
  return orphanDependents === true ? 'Orphan' : 'Background'
}

function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))
}
