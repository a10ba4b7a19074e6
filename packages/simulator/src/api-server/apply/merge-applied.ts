import { isJsonObject, isSameJson, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { type JsonDraft, ownField, setOwnField } from '../patch/own-field.ts'
import type { FieldPlan } from './field-plan.ts'
import { itemElement } from './list-items.ts'
import type { PathElement } from './path-element.ts'

/** Fields a configuration may repeat but never sets; the live ones stay. */
const keptFromLive = new Set(['creationTimestamp', 'generation', 'selfLink', 'managedFields'])

/**
 * The live object with a configuration laid over it. Nothing is removed here: what the configuration leaves out stays.
 * Nulls stand where the configuration has them. Guarantees: parts that stay as they are keep their reference, up to the whole object.
 */
export function mergeApplied(live: JsonObject, applied: JsonObject, plan: FieldPlan): JsonObject {
  const metadata = isJsonObject(applied['metadata'])
    ? Object.fromEntries(Object.entries(applied['metadata']).filter(([name]) => !keptFromLive.has(name)))
    : applied['metadata']
  return mergeMaps(live, metadata === undefined ? applied : { ...applied, metadata }, plan)
}

function mergeMaps(live: JsonObject, applied: JsonObject, plan: FieldPlan): JsonObject {
  let merged: JsonDraft | undefined
  for (const name of Object.keys(applied)) {
    const wanted = ownField(applied, name)
    if (wanted === undefined) continue
    const current = ownField(live, name)
    const value = mergeValues(current, wanted, plan.slot(name).plan)
    if (value === current) continue
    merged ??= { ...live }
    setOwnField(merged, name, value)
  }
  return merged ?? live
}

function mergeValues(live: Json | undefined, applied: Json, plan: FieldPlan): Json {
  if (applied === null) return mergeNull(live, plan)
  if (isJsonObject(applied) && !plan.isAtomicMap) {
    const current = isJsonObject(live) ? live : {}
    const merged = mergeMaps(current, applied, plan)
    return merged === current && !isJsonObject(live) ? {} : merged
  }
  if (Array.isArray(applied) && plan.list !== 'atomic') {
    const current = Array.isArray(live) ? (live as readonly Json[]) : []
    const merged = current.length === 0 && applied.length === 0 ? applied : mergeLists(current, applied, plan)
    return live !== undefined && isSameJson(live, merged) ? live : merged
  }
  return live !== undefined && isSameJson(live, applied) ? live : applied
}

/** Null empties a value, but a container with parts keeps them: parts are removed by those who own them. */
function mergeNull(live: Json | undefined, plan: FieldPlan): Json {
  const hasParts =
    (isJsonObject(live) && !plan.isAtomicMap && Object.keys(live).length > 0) ||
    (Array.isArray(live) && plan.list !== 'atomic' && live.length > 0)
  return hasParts ? live : null
}

/**
 * Items that only the live list has stay where they are; the applied items stand in the order of the configuration.
 * Where both orders can be had at once, they are.
 */
function mergeLists(live: readonly Json[], applied: readonly Json[], plan: FieldPlan): readonly Json[] {
  const wanted = new Map<PathElement, Json>()
  for (const item of applied) wanted.set(itemElement(item, plan) ?? '', item)
  const current = new Map<PathElement, Json | undefined>()
  const liveElements = live.map((item) => itemElement(item, plan) ?? '')
  // Live items of one name cannot be told apart, so none of them is merged into.
  for (const [index, element] of liveElements.entries()) {
    current.set(element, current.has(element) ? undefined : live[index])
  }
  const order = [...wanted.keys()]
  const shared = order.filter((element) => current.has(element))
  const merged: Json[] = []
  const taken = new Set<PathElement>()
  const take = (element: PathElement) => {
    taken.add(element)
    if (element === shared[0]) shared.shift()
    const item = wanted.get(element) as Json
    merged.push(mergeValues(current.get(element), item, plan.items))
  }
  let left = 0
  let right = 0
  while (left < live.length || right < order.length) {
    const element = liveElements[left]
    const next = order[right]
    if (element !== undefined && element === next) {
      take(next)
      left++
      right++
    } else if (
      element !== undefined &&
      next !== undefined &&
      wanted.has(element) &&
      shared.length > 0 &&
      shared[0] !== element
    ) {
      left++
    } else if (element !== undefined && !wanted.has(element)) {
      merged.push(live[left] as Json)
      left++
    } else {
      if (element !== undefined && taken.has(element)) left++
      if (next !== undefined) {
        take(next)
        right++
      }
    }
  }
  return merged
}
