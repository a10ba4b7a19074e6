import type { KubeObject, ManagedFieldsEntry } from '@cofferdam/kubernetes/api/kube-object.ts'
import { parseFieldSet, union } from './field-set.ts'
import { type FieldSet, isCanonical, leaf } from './field-set-builder.ts'

/** Who makes a write, as far as field ownership tells managers apart. */
export interface FieldManager {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource?: string | undefined
}

/** One entry of `metadata.managedFields`, complete and in canonical form. */
export interface Ownership extends ManagedFieldsEntry {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly fieldsV1: FieldSet
}

/** Updates by more managers than this are merged, oldest first, so that an object's history stays bounded. */
const maximumUpdateManagers = 10
const ancientManager = 'ancient-changes'

/**
 * The entries of `metadata.managedFields`; undefined when one is not what it should be.
 * Entries that were written here come back as they are, without parsing again.
 */
export function readOwnership(entries: readonly ManagedFieldsEntry[] | undefined): readonly Ownership[] | undefined {
  if (entries === undefined || entries === null) return []
  if (entries.every((entry) => isCanonical(entry?.fieldsV1))) return entries as readonly Ownership[]
  const found = new Map<string, Ownership>()
  try {
    for (const entry of entries) {
      const ownership = readEntry(entry)
      found.set(identityOf(ownership), ownership)
    }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  return [...found.values()]
}

function readEntry(entry: ManagedFieldsEntry): Ownership {
  const { manager = '', operation, apiVersion = '', fieldsType, fieldsV1, subresource, time } = entry ?? {}
  if (operation !== 'Apply' && operation !== 'Update') throw new SyntaxError('operation must be `Apply` or `Update`')
  if (apiVersion === '') throw new SyntaxError('apiVersion must not be empty')
  if (fieldsType !== 'FieldsV1') throw new SyntaxError('invalid fieldsType')
  return ownershipOf({
    by: { manager, operation, apiVersion, subresource },
    fields: parseFieldSet(fieldsV1 ?? {}),
    time: time === undefined || time === null ? undefined : wholeSeconds(time),
  })
}

function wholeSeconds(time: string): string {
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(time)) return time
  const milliseconds = Date.parse(time)
  if (Number.isNaN(milliseconds)) throw new SyntaxError(`not a time: ${time}`)
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}

/** An entry may come without fields; it counts as an owner until the next write drops it. */
export const noFields: FieldSet = leaf

export function ownershipOf(claim: {
  readonly by: FieldManager
  readonly fields: FieldSet | undefined
  readonly time: string | undefined
}): Ownership {
  const { manager, operation, apiVersion, subresource } = claim.by
  const { fields = noFields, time } = claim
  const ownership: { -readonly [field in keyof Ownership]: Ownership[field] } =
    time === undefined
      ? { manager, operation, apiVersion, fieldsType: 'FieldsV1', fieldsV1: fields }
      : { manager, operation, apiVersion, time, fieldsType: 'FieldsV1', fieldsV1: fields }
  if (subresource !== undefined && subresource !== '') ownership.subresource = subresource
  return ownership
}

/** Whether the entry is this manager's. An applier keeps its entry when it changes to another version. */
export function isBy(entry: Ownership, by: FieldManager): boolean {
  return (
    entry.manager === by.manager &&
    entry.operation === by.operation &&
    (by.operation === 'Apply' || entry.apiVersion === by.apiVersion) &&
    (entry.subresource ?? '') === (by.subresource ?? '')
  )
}

/** A text that is the same for entries of the same manager, and sorts as the real server sorts managers. */
export function identityOf({ manager, operation, apiVersion, subresource }: Ownership): string {
  return JSON.stringify({
    ...(manager === '' ? {} : { manager }),
    operation,
    ...(operation === 'Apply' ? {} : { apiVersion }),
    ...(subresource === undefined ? {} : { subresource }),
  })
}

/** Appliers first, then by time; the rest only makes the order definite. */
export function compareOwnership(left: Ownership, right: Ownership): number {
  return (
    compareText(left.operation, right.operation) ||
    compareText(left.time, right.time) ||
    compareText(left.manager, right.manager) ||
    compareText(left.apiVersion, right.apiVersion) ||
    compareText(left.subresource, right.subresource)
  )
}

function compareText(left = '', right = ''): number {
  return left < right ? -1 : left > right ? 1 : 0
}

/** Merges the oldest updates of each version until no more managers are left than an object may have. */
export function capUpdateManagers(entries: readonly Ownership[]): readonly Ownership[] {
  if (entries.length <= maximumUpdateManagers) return entries
  const updates = entries.filter((entry) => entry.operation === 'Update')
  if (updates.length <= maximumUpdateManagers) return entries
  const oldestFirst = updates.toSorted(
    (left, right) => compareText(left.time, right.time) || compareText(identityOf(left), identityOf(right)),
  )
  const kept = new Set<Ownership>(entries)
  const buckets = new Map<string, Ownership>()
  let count = updates.length
  for (const entry of oldestFirst) {
    if (count <= maximumUpdateManagers) break
    const bucket = buckets.get(entry.apiVersion)
    if (bucket === undefined) {
      buckets.set(entry.apiVersion, entry)
      continue
    }
    const by: FieldManager = { manager: ancientManager, operation: 'Update', apiVersion: entry.apiVersion }
    const merged = ownershipOf({ by, fields: union(entry.fieldsV1, bucket.fieldsV1), time: entry.time })
    kept.delete(bucket)
    kept.delete(entry)
    kept.add(merged)
    buckets.set(entry.apiVersion, merged)
    count--
  }
  return [...kept]
}

/** The object with these owners. Guarantees: the same object when it says so already. */
export function withOwnership<T extends KubeObject>(object: T, entries: readonly Ownership[]): T {
  const current = object.metadata.managedFields
  if (current === entries) return object
  if (entries.length === 0) {
    if (current === undefined) return object
    const { managedFields: _, ...metadata } = object.metadata
    return { ...object, metadata }
  }
  if (current?.length === entries.length && entries.every((entry, index) => entry === current[index])) return object
  return { ...object, metadata: { ...object.metadata, managedFields: entries } }
}
