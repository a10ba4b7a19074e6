import { isJsonObject, isSameJson, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject, ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyText, type ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { AdmissionRequest } from '../admission/admission.ts'
import { unclassifiedFailure } from '../patch/patch-failure.ts'
import { deepFreeze } from '../store/deep-freeze.ts'
import { notFound, staleWrite } from './api-errors.ts'
import { decodeObject } from './decode-object.ts'
import { prepareUpdate, trackWrite, warnWriter } from './prepare-write.ts'
import { admissionOf, admit, bucketOf, type Registry, type WriteRequest } from './registry.ts'
import { asServed, asStored } from './served-version.ts'
import { requireFreeAddress } from './service-address.ts'
import { storedWithNulls } from './stored-with-nulls.ts'

type Fields = KubeObject & JsonObject

/** What a write makes of the object that is there. */
export interface Rewrite {
  readonly key: ObjectKey
  /** The object as it is to be, made of the present one as the asked version shows it; may throw a refusal. */
  readonly change: (current: KubeObject) => KubeObject
  /** Reads the changed object into the form of its kind; absent: as an object that was sent. */
  readonly decode?: (changed: KubeObject, current: KubeObject) => KubeObject
  /** The change brings managedFields along, as server-side apply does. */
  readonly isTracked?: boolean
  /** Whether the last change left nulls that are stored and not shown; absent: none. */
  readonly leavesNulls?: () => boolean
  /** How admission is to see the object, when not as itself: the scale subresource is a Scale. */
  readonly shown?: {
    readonly kind: AdmissionRequest['kind']
    readonly as: (object: KubeObject) => KubeObject
  }
  /** What to do when there is no such object; absent: 404. */
  readonly otherwise?: () => Promise<KubeObject>
}

/** While admission was asked somebody else may have written; the real server tries this often on the newer state. */
const attempts = 5

/**
 * Changes one object.
 *
 * Guarantees: a change made of a stale state is never stored; a change that changes nothing is not stored either, and the
 * resourceVersion stays. When neither webhook nor `otherwise` is asked, nothing happens between the read and the write.
 */
export async function rewriteObject(registry: Registry, request: WriteRequest, rewrite: Rewrite): Promise<KubeObject> {
  const { definition } = request
  const bucket = bucketOf(registry, definition)
  const key = keyText(rewrite.key)
  for (let attempt = 1; ; attempt += 1) {
    const stored = bucket.get(key)
    if (stored === undefined) {
      if (rewrite.otherwise !== undefined) return rewrite.otherwise()
      throw notFound(definition.type, rewrite.key.name)
    }
    const current = asServed(definition, stored)
    const next = nextState(registry, request, rewrite, current)
    const asked = admissionOf(request, { operation: 'UPDATE', key: rewrite.key, object: next, oldObject: current })
    if (asked !== undefined) await admit(request, shownTo(asked, rewrite, next, current))
    if (request.dryRun) return deepFreeze(next)
    const leavesNulls = rewrite.leavesNulls?.() === true
    // An object that only waits for a write to go with goes with one that changes nothing, too.
    const isSame = next === current && !leavesNulls && !storedWithNulls.has(stored)
    if (isSame && !hasNothingToWaitFor(current)) return current
    const written = writeNext(registry, request, { key, next, stored, leavesNulls })
    if (written !== undefined) return written
    if (attempt === attempts) throw staleWrite(definition.type, rewrite.key.name)
  }
}

function shownTo(asked: AdmissionRequest, { shown }: Rewrite, next: KubeObject, current: KubeObject): AdmissionRequest {
  return shown === undefined
    ? asked
    : { ...asked, kind: shown.kind, object: shown.as(next), oldObject: shown.as(current) }
}

function nextState(registry: Registry, request: WriteRequest, rewrite: Rewrite, current: KubeObject): KubeObject {
  const changed = rewrite.change(current)
  if (changed === current) {
    warnWriter(request, current, current)
    return current
  }
  requireCurrent(request, changed, current)
  const decoded = (rewrite.decode ?? ((sent) => decodeObject(request, sent, current)))(changed, current)
  requireFreeAddress(registry, request, decoded, current)
  const next = prepareUpdate(request, decoded, current, rewrite.isTracked === true)
  if (rewrite.isTracked === true) return next
  const written = beforeItIsPutBack(request, decoded, next)
  if (written === current) return current
  const tracked = trackWrite(registry, request, written, current)
  // Who owns the same as before has written nothing, and gets no new time for it; nor does who sends owners with the times of before.
  const mayBeSame = written !== next || !isSameJson(decoded.metadata.managedFields, current.metadata.managedFields)
  const owned = written === next ? tracked : withOwnersOf(tracked, next)
  return mayBeSame && isSameJson(withoutTimes(owned), withoutTimes(current)) ? current : owned
}

function withoutTimes({ metadata, ...object }: KubeObject): unknown {
  const managedFields = metadata.managedFields?.map((entry) => ({ ...entry, time: '' }))
  return { ...object, metadata: { ...metadata, managedFields } }
}

/**
 * What was to be written, with those fields as they were sent that silently stay as they are or are completed: the time of deletion, and
 * parts of the spec of some kinds. The real server notes who owns what first and puts them back afterwards, so who sent others owns them from then on.
 */
function beforeItIsPutBack(
  { definition, subresource }: WriteRequest,
  decoded: KubeObject,
  next: KubeObject,
): KubeObject {
  if (subresource !== undefined) return next
  const metadata = deletionAsSent(decoded.metadata, next.metadata)
  const spec = specAsSent(definition.storageKey, decoded as Fields, next as Fields)
  if (!isSameJson(spec, (next as Fields).spec)) return { ...next, metadata, spec } as KubeObject
  return metadata === next.metadata ? next : { ...next, metadata }
}

/** Who leaves out that an object is deleted takes it from who owned that, though the object stays deleted. */
function deletionAsSent(sent: ObjectMeta, next: ObjectMeta): ObjectMeta {
  const { deletionTimestamp, deletionGracePeriodSeconds } = sent
  const hasSameTime = deletionTimestamp === next.deletionTimestamp
  if (hasSameTime && deletionGracePeriodSeconds === next.deletionGracePeriodSeconds) return next
  const { deletionTimestamp: _, deletionGracePeriodSeconds: __, ...rest } = next
  return {
    ...rest,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
  }
}

/** Of these kinds: what of the spec is put back or completed afterwards. */
const completedFields: Readonly<Record<string, readonly string[]>> = {
  'coordination.k8s.io/leases': ['strategy', 'preferredHolder'],
  namespaces: ['finalizers'],
  pods: ['tolerations'],
  services: ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'],
}

function specAsSent(storageKey: string, { spec: sent = {} }: Fields, { spec }: Fields): Json | undefined {
  const completed = completedFields[storageKey]
  if (completed === undefined || !isJsonObject(sent) || !isJsonObject(spec)) return spec
  const entries = Object.entries(spec).filter(([field]) => !completed.includes(field))
  const asSent = completed.flatMap((field): [string, Json][] => {
    const value = sent[field]
    return value === undefined ? [] : [[field, value]]
  })
  return Object.fromEntries([...entries, ...asSent])
}

function withOwnersOf({ metadata: { managedFields } }: KubeObject, object: KubeObject): KubeObject {
  if (isSameJson(managedFields, object.metadata.managedFields)) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } }
}

/** A write that names a version is meant for that state only. */
function requireCurrent({ definition }: WriteRequest, { metadata }: KubeObject, current: KubeObject): void {
  const { resourceVersion, name } = current.metadata
  const wanted = metadata.resourceVersion
  if (!wanted || wanted === '0' || wanted === resourceVersion) return
  requireReadableVersion(wanted)
  throw staleWrite(definition.type, name)
}

/** @throws ApiError 500 for a version that is no number */
export function requireReadableVersion(version: string): void {
  if (/^\d+$/.test(version)) return
  throw unclassifiedFailure(`strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`)
}

function writeNext(
  registry: Registry,
  { definition }: WriteRequest,
  write: {
    readonly key: string
    readonly next: KubeObject
    readonly stored: KubeObject
    readonly leavesNulls: boolean
  },
): KubeObject | undefined {
  const bucket = bucketOf(registry, definition)
  const next = registry.customResources.completed(definition, asStored(definition, write.next))
  const { name } = next.metadata
  if (hasNothingToWaitFor(next)) {
    if (bucket.remove(write.key, write.stored) === undefined) return undefined
    registry.customResources.stored(definition, undefined, name)
    // Who removed the last finalizer is answered with the object as it was sent.
    return deepFreeze(write.next)
  }
  const written = bucket.put(write.key, next, write.stored)
  if (written === undefined) return undefined
  if (write.leavesNulls) storedWithNulls.add(written)
  registry.customResources.stored(definition, written, name)
  return asServed(definition, written)
}

/** Deleted, past its grace period, and its last finalizer is gone: with this write the object goes. */
function hasNothingToWaitFor(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata
  if (deletionTimestamp === undefined || (deletionGracePeriodSeconds ?? 0) !== 0) return false
  if (finalizers !== undefined && finalizers.length > 0) return false
  const { spec } = object as { spec?: { finalizers?: readonly string[] } }
  return object.kind !== 'Namespace' || (spec?.finalizers ?? []).length === 0
}
