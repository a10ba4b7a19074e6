import { type CelBudget, celBudgetOfObject } from './cel-cost.ts'
import { brokenRules } from './cel-rules.ts'
import type { CompiledSchema } from './compiled-schema.ts'
import { earlierItem } from './earlier-item.ts'
import type { FieldError } from './field-error.ts'
import { fieldPath, type PathSteps } from './field-path.ts'

/** The CEL rules that the value breaks, wherever in its schema they stand. */
export function brokenCelRules(next: unknown, previous: unknown, root: CompiledSchema): FieldError[] {
  if (!holdsRules(root)) return []
  const walk: Walk = { path: [], errors: [], budget: celBudgetOfObject() }
  checkRules(next, previous, root, walk)
  return walk.errors
}

interface Walk {
  readonly path: PathSteps
  readonly errors: FieldError[]
  readonly budget: CelBudget
}

function checkRules(value: unknown, previous: unknown, node: CompiledSchema, walk: Walk): void {
  if (value === undefined || value === null || !holdsRules(node) || walk.budget.left < 0) return
  walk.errors.push(...brokenRules({ value, previous, node, field: fieldPath(walk.path), budget: walk.budget }))
  if (typeof value !== 'object') return
  if (Array.isArray(value)) {
    const earlier = Array.isArray(previous) ? previous : undefined
    for (const [index, item] of value.entries()) {
      walk.path.push(index)
      if (node.items) checkRules(item, earlier && earlierItem({ item, index, earlier, node }), node.items, walk)
      walk.path.pop()
    }
    return
  }
  const before = typeof previous === 'object' && previous !== null ? (previous as Record<string, unknown>) : undefined
  for (const field in value) {
    const described = node.properties.get(field)
    const child = described ?? node.additional
    if (child === undefined) continue
    // Other rules of a schema write keys of maps as fields; those in CEL do not.
    walk.path.push(described === undefined ? { key: field } : field)
    checkRules((value as Record<string, unknown>)[field], before?.[field], child, walk)
    walk.path.pop()
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
