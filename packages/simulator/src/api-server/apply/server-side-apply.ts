import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { isJsonObject, isSameJson, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { unclassifiedFailure } from '../patch/patch-failure.ts'
import type { Schema } from '../schema/schema.ts'
import { applyConflict, type FieldConflict } from './apply-conflict.ts'
import { compareObjects } from './compare-objects.ts'
import { dropNulls } from './drop-nulls.ts'
import { type FieldPlan, fieldPlanOf } from './field-plan.ts'
import { difference, intersection, union } from './field-set.ts'
import type { FieldSet } from './field-set-builder.ts'
import { fieldsOfObject } from './fields-of-object.ts'
import { fieldsLastApplied, withLastApplied } from './last-applied.ts'
import {
  compareOwnership,
  type FieldManager,
  isBy,
  noFields,
  type Ownership,
  ownershipOf,
  readOwnership,
  withOwnership,
} from './managed-fields.ts'
import { mergeApplied } from './merge-applied.ts'
import { removeFields } from './remove-fields.ts'
import { trackUpdate } from './track-update.ts'
import { validateApplied } from './validate-applied.ts'

export interface ApplyRequest {
  /** The stored object; undefined when the apply creates it. */
  readonly live: KubeObject | undefined
  /** What the manager wants: all the fields it cares for, and no others. */
  readonly applied: JsonObject
  readonly schema: Schema
  readonly manager: string
  /** Takes fields from other managers instead of failing. */
  readonly force: boolean
  readonly apiVersion: string
  /** When the apply happens, in whole seconds: `2024-05-01T10:00:00Z`. */
  readonly time: string
  readonly subresource?: string
  /** Top-level fields this endpoint does not write, such as `status`. */
  readonly ignored?: readonly string[]
  /** Fields of the metadata that it does not write either. */
  readonly closedMetadata?: readonly string[]
  /** What an object of the kind holds that was never written. */
  readonly blank?: JsonObject | undefined
}

/** What an apply makes of an object. */
export interface ApplyResult {
  readonly object: KubeObject
  /** The configuration, or what it gave up, leaves nulls that are not shown: of custom resources the real server stores them. */
  readonly leavesNulls: boolean
}

const emptyObject: JsonObject = Object.freeze({})

/**
 * Server-side apply: lays the configuration over the live object, removes what the manager applied before and no longer
 * does, and settles who owns what.
 * Guarantees: arguments do not change; the `live` object itself comes back when neither it nor its owners change.
 * Fails closed: 409 when a field of another manager would change and `force` is not set; then nothing is taken.
 */
export function serverSideApply(request: ApplyRequest): ApplyResult {
  requireSameKind(request)
  const plan = fieldPlanOf(request.schema)
  const open = withoutMetadata(request.applied, request.closedMetadata)
  // Metadata that says nothing is nobody's.
  const saysNothing = request.live !== undefined && isSameJson(open['metadata'], emptyObject)
  const hollow = saysNothing ? ['metadata'] : []
  const applied = withoutFields(open, [...(request.ignored ?? []), ...hollow])
  validateApplied(applied, plan, subjectOf(request.applied))
  const state: ApplyState = { request, applied, plan, owners: ownersOf(request) }
  const outcome = attempt(state, request.force)
  const result = 'conflicts' in outcome ? settleConflicts(state, outcome.conflicts) : outcome
  if (request.manager !== 'kubectl') return result
  return { ...result, object: withLastApplied(result.object, request.applied) }
}

interface ApplyState {
  readonly request: ApplyRequest
  readonly applied: JsonObject
  readonly plan: FieldPlan
  readonly owners: readonly Ownership[]
}

type Outcome = ApplyResult | { readonly conflicts: readonly FieldConflict[] }

function attempt({ request, applied, plan, owners }: ApplyState, force: boolean): Outcome {
  const { manager, apiVersion, subresource, time, live, ignored } = request
  const applier: FieldManager = { manager, operation: 'Apply', apiVersion, subresource }
  const before = (live ?? emptyObject) as unknown as JsonObject
  const wanted = fieldsOfObject(applied, plan)
  const last = owners.find((owner) => isBy(owner, applier))
  const others = owners.filter((owner) => owner !== last && owner.fieldsV1 !== noFields)
  const merged = mergeApplied(before, applied, plan)
  const kept = others.reduce<FieldSet | undefined>((all, owner) => union(all, owner.fieldsV1), wanted)
  const given = last?.fieldsV1 ?? noFields
  // Nulls count as places while changes are found: who owns the place of an emptied container goes on owning it.
  const rest = removeFields(merged, { plan, given, kept })
  // A container that is configured as empty is there, also when all it held has just gone.
  const outline = rest === merged ? merged : mergeApplied(rest, applied, plan)
  const changes = compareObjects(before, outline, { plan, ignored })
  const dropped = dropNulls(outline, before, plan)
  const object = isSameJson(dropped, before) ? before : dropped

  const conflicts = others.flatMap((owner) => {
    const fields = intersection(owner.fieldsV1, changes?.changed)
    return fields === undefined ? [] : [{ owner, fields }]
  })
  if (conflicts.length > 0 && !force) return { conflicts }

  const after = others.flatMap((owner) => {
    const fields = difference(difference(owner.fieldsV1, changes?.changed), changes?.removed)
    if (fields === undefined) return []
    return [fields === owner.fieldsV1 ? owner : { ...owner, fieldsV1: fields }]
  })
  // The time says when the object last changed by this manager, so an apply without effect leaves it alone.
  const own = ownershipOf({ by: applier, fields: wanted, time: changes === undefined ? last?.time : time })
  const isRepeated = last !== undefined && object === before && isSameJson({ ...own, time: last.time }, { ...last })
  const entries = wanted === undefined ? after : [...after, isRepeated ? last : own]
  return {
    object: withOwnership(object as unknown as KubeObject, entries.toSorted(compareOwnership)),
    leavesNulls: dropped !== outline,
  }
}

/** What client-side apply set belongs to the same user; `kubectl` may take that over without being forced. */
function settleConflicts(state: ApplyState, conflicts: readonly FieldConflict[]): ApplyResult {
  const { live, manager } = state.request
  if (live === undefined || manager !== 'kubectl') throw applyConflict(conflicts)
  const allowed = fieldsLastApplied(live, state.plan)
  const refused = conflicts.flatMap(({ owner, fields }) => {
    const rest = difference(fields, allowed)
    return rest === undefined ? [] : [{ owner, fields: rest }]
  })
  const outcome = refused.length === 0 ? attempt(state, true) : { conflicts: refused }
  if ('conflicts' in outcome) throw applyConflict(outcome.conflicts)
  return outcome
}

/** The owners to start from; what an untracked object has is taken to have been there before the first apply. */
function ownersOf(request: ApplyRequest): readonly Ownership[] {
  const { live, schema, apiVersion, time, subresource, ignored, blank } = request
  if (live === undefined) return []
  const owners = readOwnership(live.metadata.managedFields)
  if (owners === undefined) throw unclassifiedFailure('failed to decode managed fields')
  if (owners.length > 0) return owners
  const tracked = trackUpdate({
    previous: undefined,
    next: withOwnership(withoutMetadata(live as KubeObject & JsonObject, request.closedMetadata), []),
    schema,
    manager: 'before-first-apply',
    blank,
    apiVersion,
    time,
    ...(subresource === undefined ? {} : { subresource }),
    ...(ignored === undefined ? {} : { ignored }),
  })
  return readOwnership(tracked.metadata.managedFields) ?? []
}

function requireSameKind({ live, applied, apiVersion }: ApplyRequest): void {
  const { kind } = applied
  const isSameKind = typeof kind === 'string' && kind !== '' && (live === undefined || live.kind === kind)
  if (applied['apiVersion'] !== apiVersion || !isSameKind) {
    throw new ApiError('BadRequest', `invalid object type: ${kindText(applied)}`)
  }
  const { metadata } = applied
  if (isJsonObject(metadata) && metadata['managedFields'] !== undefined && metadata['managedFields'] !== null) {
    throw new ApiError('BadRequest', 'metadata.managedFields must be nil')
  }
}

function subjectOf(applied: JsonObject): string {
  const metadata = isJsonObject(applied['metadata']) ? applied['metadata'] : {}
  return `${textOf(metadata['namespace'])}/${textOf(metadata['name'])}; ${kindText(applied)}`
}

function kindText(applied: JsonObject): string {
  const apiVersion = textOf(applied['apiVersion'])
  return `${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${textOf(applied['kind'])}`
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

function withoutMetadata<T extends JsonObject>(object: T, names: readonly string[] = []): T {
  const { metadata } = object
  return names.length > 0 && isJsonObject(metadata) ? { ...object, metadata: withoutFields(metadata, names) } : object
}

function withoutFields(object: JsonObject, names: readonly string[]): JsonObject {
  if (!names.some((name) => object[name] !== undefined)) return object
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}
