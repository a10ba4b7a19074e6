import { isSameJson, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject, ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { randomUid } from '@cofferdam/kubernetes/runtime/random.ts'
import { asksToForget, trackUpdate } from '../apply/track-update.ts'
import { type MetadataRules, validateMetadata } from '../builtin/metadata-validation.ts'
import type { ResourceDefinition } from '../resource-definition.ts'
import { type FieldError, invalidObject } from '../schema/field-error.ts'
import { validateBySchema } from '../schema/validate.ts'
import { withPriority } from './pod-priority.ts'
import type { Registry, WriteRequest } from './registry.ts'
import { servedVersion } from './served-version.ts'
import { requireFreeAddress } from './service-address.ts'
import { closedMetadata } from './status-metadata.ts'

type Fields = KubeObject & JsonObject

/** Fills in what the server sets on a new object, and checks the whole. Assumes: decoded, and named. */
export function prepareCreate(registry: Registry, request: WriteRequest, decoded: KubeObject): KubeObject {
  const { definition } = request
  const metadata: ObjectMeta = {
    ...decoded.metadata,
    uid: randomUid(registry.random.stream(`uids of ${definition.storageKey} by ${request.fieldManager}`)),
    creationTimestamp: timestamp(registry.clock),
    ...(definition.hasGeneration ? { generation: 1 } : {}),
  }
  const whole = { ...(startsWithoutStatus(definition) ? withField(decoded, 'status', noStatus) : decoded), metadata }
  const object = withPriority(registry, definition, whole)
  requireFreeAddress(registry, request, object)
  requireValid(request, object, shapeErrors(definition, object, undefined))
  const prepared = definition.strategy.prepare?.(object, undefined) ?? object
  requireValid(request, prepared, [
    ...validateMetadata(prepared, undefined, metadataRules(definition)),
    ...(definition.strategy.validate?.(prepared, undefined) ?? []),
  ])
  warnWriter(request, prepared)
  return prepared
}

/**
 * Puts together the next state of an object from what was sent: the server's own metadata stays, a write to the object
 * leaves its status alone and a write to its status leaves all else alone. Then checks the whole.
 */
export function prepareUpdate(
  request: WriteRequest,
  decoded: KubeObject,
  previous: KubeObject,
  isTracked: boolean,
): KubeObject {
  const { definition } = request
  const isStatusWrite = request.subresource === 'status'
  const next = isStatusWrite
    ? withStatusOf(definition, previous, decoded, isTracked)
    : withKeptFields(request, previous, decoded, isTracked)
  if (next === previous) {
    warnWriter(request, previous, previous)
    return previous
  }
  requireValid(request, next, shapeErrors(definition, next, previous))
  const { strategy } = definition
  const prepared = strategy.prepare?.(next, previous) ?? next
  const own = isStatusWrite ? strategy.validateStatus?.(prepared, previous) : strategy.validate?.(prepared, previous)
  requireValid(request, prepared, [...validateMetadata(prepared, previous, metadataRules(definition)), ...(own ?? [])])
  warnWriter(request, prepared, previous)
  if (isSameJson(prepared, previous)) return previous
  return isStatusWrite ? prepared : withGeneration(definition, prepared, previous)
}

/** The metadata of custom resources is checked with the rest: without a name their rules are not even asked. */
function shapeErrors(definition: ResourceDefinition, next: KubeObject, previous: KubeObject | undefined): FieldError[] {
  const { schema, origin } = definition
  const found = origin === 'custom' ? validateMetadata(next, previous, metadataRules(definition)) : []
  return validateBySchema(next, schema, { found, ...(previous === undefined ? {} : { previous }) })
}

const statusOnly = ['status']

/** Notes in managedFields whose write this is. */
export function trackWrite(
  registry: Registry,
  request: WriteRequest,
  next: KubeObject,
  previous: KubeObject | undefined,
): KubeObject {
  const { definition, fieldManager, subresource } = request
  return trackUpdate({
    previous,
    next,
    schema: definition.schema,
    manager: fieldManager,
    apiVersion: servedVersion(definition),
    time: timestamp(registry.clock),
    ...(subresource === undefined ? {} : { subresource }),
    ...(definition.hasStatus && subresource !== 'status' ? { ignored: statusOnly } : {}),
  })
}

const noStatus = {} as KubeObject

/** The kubelet registers its node with a status; every other status is for controllers to write afterwards. */
function startsWithoutStatus({ hasStatus, type }: ResourceDefinition): boolean {
  return hasStatus && !(type.group === '' && type.plural === 'nodes')
}

function withStatusOf(
  definition: ResourceDefinition,
  previous: KubeObject,
  decoded: KubeObject,
  isTracked: boolean,
): KubeObject {
  const metadata = statusMetadata(definition, previous.metadata, decoded.metadata, isTracked)
  const hasSameMetadata = isSameJson(metadata, previous.metadata)
  const hasSameStatus = isSameJson((decoded as Fields).status, (previous as Fields).status)
  const next = hasSameStatus ? previous : withField(previous, 'status', decoded)
  return hasSameMetadata ? next : { ...next, metadata }
}

/** Who writes the status of a built-in kind writes its metadata too, but for what the kind puts back; of a custom resource nothing else. */
function statusMetadata(
  definition: ResourceDefinition,
  previous: ObjectMeta,
  sent: ObjectMeta,
  isTracked: boolean,
): ObjectMeta {
  const managedFields = isTracked ? sent.managedFields : previous.managedFields
  if (definition.origin === 'custom') return withEntries(previous, { managedFields })
  const putBack = closedMetadata(definition).map((field) => [field, previous[field]])
  return keptMetadata(previous, withEntries(sent, { ...Object.fromEntries(putBack), managedFields }), isTracked)
}

/** The metadata with other values; undefined takes a field away. */
function withEntries(metadata: ObjectMeta, entries: Partial<Record<keyof ObjectMeta, unknown>>): ObjectMeta {
  const all = Object.entries({ ...metadata, ...entries })
  return Object.fromEntries(all.filter(([, value]) => value !== undefined)) as unknown as ObjectMeta
}

function withKeptFields(
  request: WriteRequest,
  previous: KubeObject,
  decoded: KubeObject,
  isTracked: boolean,
): KubeObject {
  const { definition } = request
  const sent = definition.storageKey === 'namespaces' ? withNamespaceSpec(request, previous, decoded) : decoded
  const next = definition.hasStatus ? withField(sent, 'status', previous) : sent
  const metadata = keptMetadata(previous.metadata, decoded.metadata, isTracked)
  const whole = metadata === next.metadata ? next : { ...next, metadata }
  return isSameJson(whole, previous) ? previous : whole
}

/** The spec of a namespace is its finalizers, and those are written through a subresource of their own. */
function withNamespaceSpec({ subresource }: WriteRequest, previous: KubeObject, decoded: KubeObject): KubeObject {
  if (subresource !== 'finalize') return withField(decoded, 'spec', previous)
  return { ...withField(previous, 'spec', decoded), metadata: decoded.metadata }
}

/** The object with one field as another has it. */
function withField(object: KubeObject, field: 'spec' | 'status', source: KubeObject): KubeObject {
  const value = (source as Fields)[field]
  if ((object as Fields)[field] === value) return object
  return value === undefined ? without(object as Fields, field) : ({ ...object, [field]: value } as KubeObject)
}

function without<T extends object>(object: T, ...fields: (keyof T)[]): T {
  const rest = { ...object }
  for (const field of fields) delete rest[field]
  return rest
}

const serverFields = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const

/** Writers cannot change what the server sets: it stays as it was, or the write is refused. */
function keptMetadata(previous: ObjectMeta, sent: ObjectMeta, isTracked: boolean): ObjectMeta {
  const isReset =
    sent.managedFields !== undefined && previous.managedFields === undefined && asksToForget(sent.managedFields)
  // Who applies nothing any more owns nothing, and is not listed.
  const unsent = isTracked ? undefined : previous.managedFields
  const managedFields = isReset ? undefined : (sent.managedFields ?? unsent)
  const isKept = managedFields === sent.managedFields && serverFields.every((field) => sent[field] === previous[field])
  if (isKept) return sent
  const kept: Record<string, unknown> = { ...sent, managedFields }
  for (const field of serverFields) kept[field] = previous[field]
  // These are not quietly put back: who sends others gets the answer that they never change.
  if (sent.uid) kept['uid'] = sent.uid
  kept['deletionTimestamp'] ??= sent.deletionTimestamp
  kept['deletionGracePeriodSeconds'] = sent.deletionGracePeriodSeconds ?? previous.deletionGracePeriodSeconds
  return withEntries(kept as unknown as ObjectMeta, {})
}

/** The generation counts the changes of what is wanted: all but metadata, and status where that is a subresource. */
function withGeneration(definition: ResourceDefinition, next: KubeObject, previous: KubeObject): KubeObject {
  const { generation } = previous.metadata
  // A writer may bring a generation to a kind that counts none; it stays as it came.
  if (!definition.hasGeneration || generation === undefined) return next
  if (isSameIntent(definition, next as Fields, previous as Fields)) return next
  return { ...next, metadata: { ...next.metadata, generation: generation + 1 } }
}

function isSameIntent({ hasStatus, countsAnnotations }: ResourceDefinition, next: Fields, previous: Fields): boolean {
  if (countsAnnotations === true && !isSameJson(next.metadata.annotations, previous.metadata.annotations)) return false
  const counts = (field: string) =>
    field !== 'metadata' && field !== 'apiVersion' && field !== 'kind' && !(hasStatus && field === 'status')
  for (const field in next) if (counts(field) && !isSameJson(next[field], previous[field])) return false
  for (const field in previous) if (counts(field) && !(field in next)) return false
  return true
}

/** Names are DNS subdomains, unless the kind has a rule of its own or, as for roles and budgets, hardly any. */
function metadataRules({ origin, type: { group, plural, namespaced } }: ResourceDefinition): MetadataRules {
  const hasOwnRule = group === 'rbac.authorization.k8s.io' || group === 'policy' || isNamedByOwnRule(group, plural)
  return {
    namespaced,
    nameRule: hasOwnRule ? 'path' : 'subdomain',
    hasQualifiedFinalizers: origin === 'builtin' && !groupsWithPlainFinalizers.has(group),
  }
}

function isNamedByOwnRule(group: string, plural: string): boolean {
  return group === '' && (plural === 'namespaces' || plural === 'services')
}

/** Groups whose validation in the real server is not that of the core. */
const groupsWithPlainFinalizers = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'coordination.k8s.io',
  'policy',
])

function requireValid({ definition }: WriteRequest, object: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length === 0) return
  const { group, kind } = definition.type
  throw invalidObject({ group, kind, name: object.metadata.name ?? '' }, errors)
}

/** Also of what a write leaves as it is. Who writes a status is not told of the spec. */
export function warnWriter(request: WriteRequest, object: KubeObject, previous?: KubeObject): void {
  const { definition, onWarning, subresource } = request
  if (onWarning === undefined || subresource === 'status') return
  for (const warning of definition.strategy.warn?.(object, previous) ?? []) onWarning(warning)
}
