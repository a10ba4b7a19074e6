import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import { canonicalQuantity } from '@cofferdam/kubernetes/api/quantity.ts'
import { type CompiledSchema, compiledSchema, completedDefault } from './compiled-schema.ts'
import { fieldsBefore, setField } from './copy-on-change.ts'
import type { Schema } from './schema.ts'

/**
 * Sets the defaults the schema declares and drops nulls where null is not a value, as the real server does on decoding; quantities get
 * the spelling that it keeps.
 * Returns the same reference when nothing changes; subtrees shared with `previous` are complete already.
 */
export function applyDefaults<T>(value: T, schema: Schema, previous?: unknown): T {
  return complete(value, previous, compiledSchema(schema, true)) as T
}

function complete(value: unknown, previous: unknown, node: CompiledSchema): unknown {
  if (typeof value !== 'object' || value === null) {
    return node.quantity ? quantityText(value) : value
  }
  if (value === previous) return value
  if (Array.isArray(value)) return node.items === undefined ? value : completeItems(value, previous, node.items)
  const object = value as Record<string, unknown>
  const before = typeof previous === 'object' && previous !== null ? (previous as Record<string, unknown>) : undefined
  const { properties, additional, defaults } = node
  if (properties.size === 0 && additional === undefined) return value
  let changed: Record<string, unknown> | undefined
  for (const field in object) {
    const current = object[field]
    const child = properties.get(field) ?? additional
    if (child === undefined) {
      if (changed !== undefined) setField(changed, field, current)
      continue
    }
    if (current === null && !child.nullable) {
      changed ??= fieldsBefore(object, field)
      // A map of texts of a built-in kind holds the empty text then.
      if (child === additional && child.decoded && child.type === 'string' && !child.quantity)
        setField(changed, field, '')
      continue
    }
    const completed = complete(current, before?.[field], child)
    if (completed !== current) changed ??= fieldsBefore(object, field)
    if (changed !== undefined) setField(changed, field, completed)
  }
  for (const [field, child] of defaults) {
    const target: Record<string, unknown> = changed ?? object
    if (Object.hasOwn(target, field) && target[field] !== undefined) continue
    changed ??= { ...object }
    setField(
      changed,
      field,
      completedDefault(child, (declared) => complete(declared, undefined, child) as Json),
    )
  }
  return changed ?? value
}

/** Assumes: what is no quantity was refused before. */
function quantityText(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'string' ? canonicalQuantity(String(value)) : value
}

function completeItems(list: readonly unknown[], previous: unknown, items: CompiledSchema): unknown {
  const before = Array.isArray(previous) ? previous : undefined
  let changed: unknown[] | undefined
  for (let index = 0; index < list.length; index += 1) {
    const item = list[index]
    const completed = complete(item, before?.[index], items)
    if (completed !== item) {
      changed ??= list.slice()
      changed[index] = completed
    }
  }
  return changed ?? list
}
