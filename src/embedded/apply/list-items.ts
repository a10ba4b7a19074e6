import { isJsonObject, type Json } from '../../api/json.ts'
import type { FieldPlan } from './field-plan.ts'
import type { PathElement } from './path-element.ts'

/** How a list item is called in paths; undefined when it lacks what would name it. */
export function itemElement(item: Json | undefined, plan: FieldPlan): PathElement | undefined {
  if (plan.list === 'set') {
    return typeof item === 'object' || item === undefined ? undefined : `v:${JSON.stringify(item)}`
  }
  if (!isJsonObject(item)) return undefined
  let text = ''
  for (const key of plan.keys) {
    const found = item[key.name]
    const value = found === undefined ? key.default : found
    if (value === undefined) continue
    text += `${text === '' ? '' : ','}${key.label}${JSON.stringify(value)}`
  }
  return text === '' ? undefined : `k:{${text}}`
}

/** Items by name, in order of first appearance; a name that several items share has them all. */
export function itemsByElement(items: readonly Json[], plan: FieldPlan): Map<PathElement, readonly Json[]> {
  const found = new Map<PathElement, Json[]>()
  for (const item of items) {
    const element = itemElement(item, plan)
    if (element === undefined) continue
    const same = found.get(element)
    if (same === undefined) found.set(element, [item])
    else same.push(item)
  }
  return found
}
