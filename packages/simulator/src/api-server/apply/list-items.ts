import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { FieldPlan } from './field-plan.ts'
import type { PathElement } from './path-element.ts'

/** A ledger of thousands of requests has as many names. */
const maximumRemembered = 20_000

/** How a list item is called in paths; undefined when it lacks what would name it. */
export function itemElement(item: Json | undefined, plan: FieldPlan): PathElement | undefined {
  if (plan.list === 'set') {
    return typeof item === 'object' || item === undefined ? undefined : `v:${JSON.stringify(item)}`
  }
  if (!isJsonObject(item)) return undefined
  const only = plan.keys.length === 1 ? plan.keys[0] : undefined
  const value = only === undefined ? undefined : item[only.name]
  return typeof value === 'string' ? rememberedElement(value, item, plan) : keyElement(item, plan)
}

/** Lists name their items with few keys, again and again: conditions by type, containers by name. */
function rememberedElement(value: string, item: JsonObject, plan: FieldPlan): PathElement | undefined {
  const known = plan.elements.get(value)
  if (known !== undefined) return known
  const element = keyElement(item, plan)
  if (element === undefined) return undefined
  if (plan.elements.size >= maximumRemembered) plan.elements.clear()
  plan.elements.set(value, element)
  return element
}

function keyElement(item: JsonObject, plan: FieldPlan): PathElement | undefined {
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
