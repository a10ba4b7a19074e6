import { isJsonObject, isSameJson, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { type JsonDraft, ownField, setOwnField } from './own-field.ts'

/**
 * JSON merge patch, RFC 7386.
 * Guarantees: neither argument changes; parts the patch leaves alone keep their reference, and a patch that changes
 * nothing returns `object` itself.
 */
export function applyMergePatch(object: JsonObject, patch: JsonObject): JsonObject {
  let merged: JsonDraft | undefined
  for (const name of Object.keys(patch)) {
    const wanted = ownField(patch, name)
    if (wanted === undefined) continue
    const current = ownField(object, name)
    const value = wanted === null ? undefined : mergeValue(current, wanted)
    if (value === current) continue
    merged ??= { ...object }
    if (value === undefined) delete merged[name]
    else setOwnField(merged, name, value)
  }
  return merged ?? object
}

function mergeValue(current: Json | undefined, wanted: Json): Json {
  if (isJsonObject(wanted)) return applyMergePatch(isJsonObject(current) ? current : {}, wanted)
  return current !== undefined && isSameJson(current, wanted) ? current : wanted
}
