import { isJsonObject, isSameJson, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { Schema } from '../schema/schema.ts'
import { goValueText } from './go-value-text.ts'
import { type JsonDraft, ownField, setOwnField } from './own-field.ts'
import { unclassifiedFailure } from './patch-failure.ts'
import {
  badFormat,
  deleteFromListPrefix,
  fieldsWithoutDirectives,
  listNamedBy,
  listOf,
  patchDirective,
  patchRuleOf,
  retainKeysDirective,
  setElementOrderPrefix,
  withoutDirectives,
} from './strategic-directives.ts'
import { mergeList, mergeOrderedList } from './strategic-merge-list.ts'

/**
 * Strategic merge patch: a merge patch that merges lists by the keys the schema declares, and knows directives.
 * Guarantees: no argument changes; parts the patch leaves alone keep their reference, and a patch that changes nothing
 * returns `object` itself.
 */
export function applyStrategicMergePatch(object: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  return mergeMap(object, patch, schema)
}

function mergeMap(current: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  const directive = ownField(patch, patchDirective)
  if (directive !== undefined) return applyMapDirective(directive, patch)
  const draft: JsonDraft = { ...keysRetained(current, patch) }
  const ordered = orderLists(draft, patch, schema)
  for (const name of Object.keys(patch)) {
    const wanted = ownField(patch, name)
    if (wanted === undefined || name === retainKeysDirective || name.startsWith(setElementOrderPrefix)) continue
    if (ordered.has(name)) continue
    if (name.startsWith(deleteFromListPrefix)) deleteItems(draft, listNamedBy(name, deleteFromListPrefix), wanted)
    else mergeField(draft, { name, wanted, schema })
  }
  return sharedIfSame(current, draft)
}

function applyMapDirective(directive: Json, patch: JsonObject): JsonObject {
  if (directive === 'replace') return fieldsWithoutDirectives(patch)
  if (directive === 'delete') return {}
  throw unclassifiedFailure(`unknown patch type: ${goValueText(directive)} in map: ${goValueText(patch)}`)
}

function keysRetained(current: JsonObject, patch: JsonObject): JsonObject {
  const retained = ownField(patch, retainKeysDirective)
  if (retained === undefined) return current
  if (!Array.isArray(retained)) throw badFormat(retainKeysDirective)
  const names = new Set<Json>(retained)
  for (const name of Object.keys(patch)) {
    const isSet = patch[name] !== null && name !== retainKeysDirective
    const isListDirective = name.startsWith(deleteFromListPrefix) || name.startsWith(setElementOrderPrefix)
    if (isSet && !isListDirective && !names.has(name)) throw badFormat(retainKeysDirective)
  }
  return Object.fromEntries(Object.entries(current).filter(([name]) => names.has(name)))
}

/** Merges the lists that carry an order, and returns their names. */
function orderLists(draft: JsonDraft, patch: JsonObject, schema: Schema | undefined): ReadonlySet<string> {
  const ordered = new Set<string>()
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(setElementOrderPrefix)) continue
    const order = listOf(ownField(patch, directive))
    const name = listNamedBy(directive, setElementOrderPrefix)
    const current = ownField(draft, name)
    const wanted = ownField(patch, name)
    const merged = mergeOrderedList({
      current: current === undefined ? undefined : listOf(current),
      patch: wanted === undefined ? undefined : listOf(wanted),
      order,
      rule: patchRuleOf(schema, name),
      mergeItem: mergeMap,
    })
    if (merged === undefined) continue
    setOwnField(draft, name, sharedValue(current, merged))
    ordered.add(name)
  }
  return ordered
}

function deleteItems(draft: JsonDraft, name: string, unwanted: Json): void {
  const current = ownField(draft, name)
  if (unwanted === null) delete draft[name]
  if (!Array.isArray(current) || !Array.isArray(unwanted)) return
  const remaining = (current as readonly Json[]).filter((item) => !unwanted.some((other) => isSameJson(item, other)))
  setOwnField(draft, name, sharedValue(current, remaining))
}

function mergeField(
  draft: JsonDraft,
  { name, wanted, schema }: { name: string; wanted: Json; schema: Schema | undefined },
): void {
  const current = ownField(draft, name)
  const value = wanted === null ? undefined : mergedValue(current, wanted, patchRuleOf(schema, name))
  if (value === undefined) delete draft[name]
  else setOwnField(draft, name, sharedValue(current, value))
}

function mergedValue(current: Json | undefined, wanted: Json, rule: ReturnType<typeof patchRuleOf>): Json | undefined {
  if (isJsonObject(wanted) && isJsonObject(current)) {
    // A map that is replaced is taken as it comes: its directives are unknown fields to who reads it afterwards.
    return rule.strategy === 'replace' ? wanted : mergeMap(current, wanted, rule.schema)
  }
  if (Array.isArray(wanted) && Array.isArray(current)) {
    return mergeList({ current, patch: wanted, rule, mergeItem: mergeMap })
  }
  return withoutDirectives(wanted)
}

function sharedValue(current: Json | undefined, value: Json): Json {
  return current !== undefined && isSameJson(current, value) ? current : value
}

function sharedIfSame(current: JsonObject, draft: JsonDraft): JsonObject {
  const names = Object.keys(draft)
  const isSame = names.length === Object.keys(current).length && names.every((name) => current[name] === draft[name])
  return isSame ? current : draft
}
