import type { Namespace } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject, ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyText, type ObjectKey, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { DeleteOptions } from '@cofferdam/kubernetes/client/kube-api.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ResourceDefinition } from '../resource-definition.ts'
import { deepFreeze } from '../store/deep-freeze.ts'
import { conflict, forbidden, notFound, staleWrite } from './api-errors.ts'
import { admissionOf, admit, bucketOf, type Registry, type WriteRequest } from './registry.ts'
import { asServed } from './served-version.ts'
import { storedWithNulls } from './stored-with-nulls.ts'

const attempts = 5
const lastingNamespaces = new Set(['default', 'kube-system', 'kube-public'])

/**
 * Asks for an object to go.
 *
 * Guarantees: an object that finalizers or a grace period hold stays, marked with a deletionTimestamp; a grace period is
 * only ever shortened. Resolves with the last state.
 */
export async function deleteObject(
  registry: Registry,
  request: WriteRequest,
  key: ObjectKey,
  options: DeleteOptions,
): Promise<KubeObject> {
  const { definition } = request
  const bucket = bucketOf(registry, definition)
  const text = keyText(key)
  for (let attempt = 1; ; attempt += 1) {
    const stored = bucket.get(text)
    if (stored === undefined) throw notFound(definition.type, key.name)
    requireDeletable(definition, stored, options)
    const oldObject = asServed(definition, stored)
    const asked = admissionOf(request, { operation: 'DELETE', key, oldObject })
    if (asked !== undefined) await admit(request, asked)
    const step = nextStep(registry, definition, stored, options)
    if (step.keeps === undefined) request.onGone?.()
    if (request.dryRun || (step.keeps === stored && !storedWithNulls.has(stored)))
      return asServed(definition, deepFreeze(step.keeps ?? step.passes ?? stored))
    const last = take(registry, definition, { key: text, stored, step })
    if (last !== undefined) return asServed(definition, last)
    if (attempt === attempts) throw staleWrite(definition.type, key.name)
  }
}

/** What a delete makes of an object: a marked state that is kept, or one that is passed through during deletion. */
interface DeleteStep {
  readonly keeps?: KubeObject
  readonly passes?: KubeObject
}

function take(
  registry: Registry,
  definition: ResourceDefinition,
  deletion: { readonly key: string; readonly stored: KubeObject; readonly step: DeleteStep },
): KubeObject | undefined {
  const { key, stored, step } = deletion
  const bucket = bucketOf(registry, definition)
  const marked = step.keeps ?? step.passes
  const latest = marked === undefined ? stored : bucket.put(key, marked, stored)
  if (latest === undefined) return undefined
  if (step.keeps !== undefined) {
    registry.customResources.stored(definition, latest, latest.metadata.name)
    return latest
  }
  const gone = bucket.remove(key, latest)
  if (gone !== undefined) registry.customResources.stored(definition, undefined, gone.metadata.name)
  return gone
}

function nextStep(
  registry: Registry,
  definition: ResourceDefinition,
  stored: KubeObject,
  options: DeleteOptions,
): DeleteStep {
  if (definition.storageKey === 'namespaces' && isHeldBySpec(stored)) {
    return { keeps: terminatingNamespace(registry, stored, options) }
  }
  const graceful = gracefulMetadata(registry, definition, stored, options)
  if (graceful === 'pending') return { keeps: stored }
  const leaving = registry.customResources.leaving(definition, stored)
  const finalizers = collectorFinalizers(leaving.metadata, options)
  const metadata = withFinalizers(graceful ?? leaving.metadata, finalizers)
  if (graceful !== undefined) {
    const next = { ...leaving, metadata }
    const isHeld = finalizers.length > 0 || (metadata.deletionGracePeriodSeconds ?? 0) > 0
    return isHeld ? { keeps: next } : { passes: next }
  }
  if (finalizers.length === 0) return {}
  const marked = markedAsDeleted(registry, metadata)
  return { keeps: marked === leaving.metadata ? leaving : { ...leaving, metadata: marked } }
}

/**
 * The metadata of an object whose end waits for a grace period (of 0 too: then it goes in the same breath). Undefined for
 * kinds that know none; `pending` when an earlier request holds and this one does not shorten it.
 */
function gracefulMetadata(
  registry: Registry,
  { strategy }: ResourceDefinition,
  object: KubeObject,
  { gracePeriodSeconds }: DeleteOptions,
): ObjectMeta | 'pending' | undefined {
  if (strategy.gracePeriodSeconds === undefined) return undefined
  const asked = gracePeriodSeconds !== undefined && gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds
  const { metadata } = object
  const nowMs = registry.clock.now()
  if (metadata.deletionTimestamp === undefined) {
    const period = strategy.gracePeriodSeconds(object, asked)
    return markedFor(metadata, nowMs + period * 1000, period)
  }
  const period = metadata.deletionGracePeriodSeconds ?? 0
  if (period === 0) return undefined
  if (asked === undefined || asked >= period) return 'pending'
  const atMs = Date.parse(metadata.deletionTimestamp) + (asked - period) * 1000
  // What was asked for is over already: at once if that was the wish, else as soon as a grace period can end.
  if (atMs < nowMs) return markedFor(metadata, nowMs, Math.min(asked, 1))
  return markedFor(metadata, atMs, asked)
}

function markedFor(metadata: ObjectMeta, atMs: number, period: number): ObjectMeta {
  return {
    ...metadata,
    ...laterGeneration(metadata),
    deletionTimestamp: timestamp({ now: () => atMs }),
    deletionGracePeriodSeconds: period,
  }
}

function markedAsDeleted({ clock }: Registry, metadata: ObjectMeta): ObjectMeta {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata
  const isLater = deletionTimestamp !== undefined && Date.parse(deletionTimestamp) > clock.now()
  if (deletionTimestamp !== undefined && !isLater && deletionGracePeriodSeconds === 0) return metadata
  const at = deletionTimestamp === undefined || isLater ? timestamp(clock) : deletionTimestamp
  return { ...metadata, ...laterGeneration(metadata), deletionTimestamp: at, deletionGracePeriodSeconds: 0 }
}

/** Being deleted is a change of what is wanted; it counts once. */
function laterGeneration({ generation, deletionTimestamp }: ObjectMeta): Pick<ObjectMeta, 'generation'> {
  return generation === undefined || deletionTimestamp !== undefined ? {} : { generation: generation + 1 }
}

/** The finalizers by which the garbage collector is made to go on with dependents before the owner may go. */
function collectorFinalizers({ finalizers = [] }: ObjectMeta, { propagationPolicy }: DeleteOptions): readonly string[] {
  const held = finalizers.find((finalizer) => finalizer === 'orphan' || finalizer === 'foregroundDeletion')
  const wanted = { Orphan: 'orphan', Foreground: 'foregroundDeletion', Background: undefined }
  const finalizer = propagationPolicy === undefined ? held : wanted[propagationPolicy]
  if (finalizer === held) return finalizers
  return [...finalizers.filter((each) => each !== held), ...(finalizer === undefined ? [] : [finalizer])]
}

function withFinalizers(metadata: ObjectMeta, finalizers: readonly string[]): ObjectMeta {
  if (finalizers === metadata.finalizers || finalizers.length + (metadata.finalizers?.length ?? 0) === 0)
    return metadata
  return { ...metadata, finalizers }
}

function isHeldBySpec(namespace: Namespace): boolean {
  return namespace.metadata.deletionTimestamp === undefined || (namespace.spec?.finalizers ?? []).length > 0
}

function terminatingNamespace(registry: Registry, namespace: Namespace, options: DeleteOptions): Namespace {
  const { metadata } = namespace
  if (metadata.deletionTimestamp !== undefined) return namespace
  const marked = {
    ...withFinalizers(metadata, collectorFinalizers(metadata, options)),
    deletionTimestamp: timestamp(registry.clock),
  }
  return { ...namespace, metadata: marked, status: { ...namespace.status, phase: 'Terminating' } }
}

function requireDeletable({ type, storageKey }: ResourceDefinition, stored: KubeObject, options: DeleteOptions): void {
  const { name, uid, resourceVersion } = stored.metadata
  if (storageKey === 'namespaces' && lastingNamespaces.has(name)) {
    throw forbidden(type, name, 'this namespace may not be deleted')
  }
  if (storageKey === 'namespaces') {
    requirePreconditions(type, stored, options)
    return
  }
  // Here the real server puts the kind where it puts the resource everywhere else.
  const resource = { group: type.group, plural: type.kind }
  const wanted = options.preconditions
  if (wanted?.uid !== undefined && wanted.uid !== uid) {
    const why = `the UID in the precondition (${wanted.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`
    throw conflict(resource, name, why)
  }
  if (wanted?.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`
    throw conflict(resource, name, why)
  }
}

/** Namespaces are deleted by code of their own in the real server, in words of its own. */
function requirePreconditions(
  type: ResourceType,
  { metadata }: KubeObject,
  { preconditions = {} }: DeleteOptions,
): void {
  for (const [field, label] of [
    ['uid', 'UID'],
    ['resourceVersion', 'ResourceVersion'],
  ] as const) {
    const wanted = preconditions[field]
    if (wanted === undefined || wanted === metadata[field]) continue
    const why = `Precondition failed: ${label} in precondition: ${wanted}, ${label} in object meta: ${metadata[field]}`
    throw conflict(type, metadata.name, why)
  }
}
