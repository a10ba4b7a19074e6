import { type CompiledSchema, compiledSchema } from './compiled-schema.ts'
import { fieldsBefore, setField } from './copy-on-change.ts'
import { fieldPath, type PathSteps } from './field-path.ts'
import type { Schema } from './schema.ts'

export interface PruneOptions {
  /** The value is a whole object, whose apiVersion, kind and metadata stay. */
  readonly isRoot: boolean
  /** Called with the path of every field that is dropped. */
  readonly onUnknown: (path: string) => void
  /** What the value grew from; subtrees shared with it were pruned when they were stored. */
  readonly previous?: unknown
}

/**
 * Drops the fields that the schema does not know, and lists and maps of built-in kinds that hold nothing. Returns the same
 * reference when there are none.
 */
export function pruneUnknown<T>(value: T, schema: Schema, options: PruneOptions): T {
  const walk: Walk = { path: [], onUnknown: options.onUnknown }
  return prune(value, options.previous, compiledSchema(schema, options.isRoot), walk) as T
}

interface Walk {
  readonly path: PathSteps
  readonly onUnknown: (path: string) => void
}

function prune(value: unknown, previous: unknown, node: CompiledSchema, walk: Walk): unknown {
  if (typeof value !== 'object' || value === null || value === previous) return value
  if (Array.isArray(value)) return node.items === undefined ? value : pruneItems(value, previous, node.items, walk)
  const object = value as Record<string, unknown>
  const before = typeof previous === 'object' && previous !== null ? (previous as Record<string, unknown>) : undefined
  const { properties, additional, keepsUnknown } = node
  if (keepsUnknown && properties.size === 0 && additional === undefined) return value
  let changed: Record<string, unknown> | undefined
  for (const field in object) {
    const child = properties.get(field) ?? additional
    const current = object[field]
    if (child === undefined) {
      if (!keepsUnknown) {
        walk.onUnknown(fieldPath(walk.path, field))
        changed ??= fieldsBefore(object, field)
      } else if (changed !== undefined) setField(changed, field, current)
      continue
    }
    let kept = current
    if (typeof current === 'object' && current !== null) {
      if (child.omitsEmpty && field !== 'managedFields' && !node.required.includes(field) && isEmpty(current)) {
        changed ??= fieldsBefore(object, field)
        continue
      }
      walk.path.push(field)
      kept = prune(current, before?.[field], child, walk)
      walk.path.pop()
    }
    if (kept !== current) changed ??= fieldsBefore(object, field)
    if (changed !== undefined) setField(changed, field, kept)
  }
  return changed ?? value
}

function isEmpty(collection: object): boolean {
  for (const _ in collection) return false
  return true
}

function pruneItems(list: readonly unknown[], previous: unknown, items: CompiledSchema, walk: Walk): unknown {
  const before = Array.isArray(previous) ? previous : undefined
  let changed: unknown[] | undefined
  for (let index = 0; index < list.length; index += 1) {
    const item = list[index]
    if (typeof item !== 'object' || item === null) continue
    walk.path.push(index)
    const kept = prune(item, before?.[index], items, walk)
    walk.path.pop()
    if (kept !== item) {
      changed ??= list.slice()
      changed[index] = kept
    }
  }
  return changed ?? list
}
