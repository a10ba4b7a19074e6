import { isSameJson, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject, ManagedFieldsEntry } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Schema } from '../schema/schema.ts'
import { compareObjects, type FieldChanges } from './compare-objects.ts'
import { fieldPlanOf } from './field-plan.ts'
import { difference, union } from './field-set.ts'
import {
  capUpdateManagers,
  compareOwnership,
  type FieldManager,
  isBy,
  noFields,
  type Ownership,
  ownershipOf,
  readOwnership,
  withOwnership,
} from './managed-fields.ts'

export interface TrackedWrite {
  /** The stored object; undefined for a create. */
  readonly previous: KubeObject | undefined
  readonly next: KubeObject
  readonly schema: Schema
  readonly manager: string
  readonly apiVersion: string
  /** When the write happens, in whole seconds: `2024-05-01T10:00:00Z`. */
  readonly time: string
  readonly subresource?: string
  /** Top-level fields this endpoint does not write, such as `status`. */
  readonly ignored?: readonly string[]
  /** What an object of the kind holds that was never written; its owner is nobody. */
  readonly blank?: JsonObject | undefined
}

const emptyObject: JsonObject = Object.freeze({})

/**
 * `next` with the owners it has after a write that is not an apply: the writer owns what it changed or added, nobody
 * owns what is gone.
 * Guarantees: arguments do not change; only parts that differ by reference are compared; `next` itself comes back when
 * its owners need no change.
 */
export function trackUpdate(write: TrackedWrite): KubeObject {
  const { previous, next } = write
  const owners = ownersBefore(write)
  // An object nobody tracked from its creation stays untracked until somebody applies it.
  if (owners.length === 0 && previous !== undefined) return withOwnership(next, owners)
  const plan = fieldPlanOf(write.schema)
  const before = (previous ?? write.blank ?? emptyObject) as unknown as JsonObject
  const changes = compareObjects(before, next as unknown as JsonObject, { plan, ignored: write.ignored })
  return withOwnership(next, changes === undefined ? owners : ownersAfter(owners, changes, write))
}

function ownersBefore({ previous, next, subresource }: TrackedWrite): readonly Ownership[] {
  const stored = previous?.metadata.managedFields
  const sent = next.metadata.managedFields
  const isSent = sent !== undefined && sent !== null && (subresource === undefined || subresource === '')
  if (isSent && sent !== stored) {
    if (asksToForget(sent)) return []
    const owners = isSameJson(sent, stored) ? undefined : readOwnership(sent)
    // A list that cannot be read is taken for a client that does not know the field, not for a wish to lose it.
    if (owners !== undefined && owners.length > 0) return owners
  }
  return readOwnership(stored) ?? []
}

/** An empty list, or a list of one empty entry, asks to forget all owners. */
export function asksToForget(entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.length === 0 || (entries.length === 1 && isSameJson(entries[0], {}))
}

function ownersAfter(
  owners: readonly Ownership[],
  { changed, removed }: FieldChanges,
  write: TrackedWrite,
): readonly Ownership[] {
  const { manager, apiVersion, subresource, time } = write
  const writer: FieldManager = { manager: manager || 'unknown', operation: 'Update', apiVersion, subresource }
  const after: Ownership[] = []
  let isChanged = changed !== undefined
  let own = changed
  for (const owner of owners) {
    const rest = difference(owner.fieldsV1, removed)
    if (changed !== undefined && isBy(owner, writer)) {
      own = union(rest, changed)
      continue
    }
    const fields = difference(rest, changed)
    if (fields === owner.fieldsV1 && fields !== noFields) {
      after.push(owner)
      continue
    }
    isChanged = true
    if (fields !== undefined && fields !== noFields) after.push({ ...owner, fieldsV1: fields })
  }
  if (!isChanged) return owners
  if (own !== undefined) after.push(ownershipOf({ by: writer, fields: own, time }))
  return [...capUpdateManagers(after)].sort(compareOwnership)
}
