import { brokenRules } from './cel-rules.ts'
import type { CompiledSchema } from './compiled-schema.ts'
import { earlierItem } from './earlier-item.ts'
import type { FieldError } from './field-error.ts'
import { fieldPath, type PathSteps } from './field-path.ts'

/** The CEL rules that the value breaks, wherever in its schema they stand. */
export function brokenCelRules(next: unknown, previous: unknown, root: CompiledSchema): FieldError[] {
  if (!holdsRules(root)) return []
  const errors: FieldError[] = []
  walk(next, previous, root, [], errors)
  return errors
}

function walk(value: unknown, previous: unknown, node: CompiledSchema, path: PathSteps, errors: FieldError[]): void {
  if (value === undefined || value === null || !holdsRules(node)) return
  errors.push(...brokenRules(value, previous, node, fieldPath(path)))
  if (typeof value !== 'object') return
  if (Array.isArray(value)) {
    const before = Array.isArray(previous) ? previous : undefined
    for (const [index, item] of value.entries()) {
      path.push(index)
      if (node.items) walk(item, before && earlierItem(item, index, before, node), node.items, path, errors)
      path.pop()
    }
    return
  }
  const before = typeof previous === 'object' && previous !== null ? (previous as Record<string, unknown>) : undefined
  for (const field in value) {
    const child = node.properties.get(field) ?? node.additional
    if (child === undefined) continue
    path.push(field)
    walk((value as Record<string, unknown>)[field], before?.[field], child, path, errors)
    path.pop()
  }
}

const holders = new WeakMap<CompiledSchema, boolean>()

/** Whether there is a rule here or further down; most schemas have none and are not walked a second time. */
export function holdsRules(node: CompiledSchema): boolean {
  const known = holders.get(node)
  if (known !== undefined) return known
  // A schema that contains itself asks again while it is being answered.
  holders.set(node, false)
  const children = [...node.properties.values(), node.additional, node.items]
  const holds =
    (node.schema['x-kubernetes-validations'] ?? []).length > 0 ||
    children.some((child) => child !== undefined && !child.decoded && holdsRules(child))
  holders.set(node, holds)
  return holds
}
