import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { type JsonDraft, ownField, setOwnField } from '../patch/own-field.ts'
import type { FieldPlan } from './field-plan.ts'

/**
 * The object without fields that are null, except where null is a value: in untyped content and in nullable fields.
 * Parts that are the same reference in `before` are left as they are.
 */
export function dropNulls(object: JsonObject, before: JsonObject, plan: FieldPlan): JsonObject {
  return object === before ? object : dropFromMap(object, before, plan)
}

function dropFromMap(map: JsonObject, before: JsonObject | undefined, plan: FieldPlan): JsonObject {
  let rest: JsonDraft | undefined
  for (const name of Object.keys(map)) {
    const value = ownField(map, name)
    const known = before === undefined ? undefined : ownField(before, name)
    if (value === undefined || value === known) continue
    const inside = plan.slot(name).plan
    const remaining = value === null && !keepsNull(inside) ? undefined : dropFromValue(value, known, inside)
    if (remaining === value) continue
    rest ??= { ...map }
    if (remaining === undefined) delete rest[name]
    else setOwnField(rest, name, remaining)
  }
  return rest ?? map
}

function dropFromValue(value: Json, before: Json | undefined, plan: FieldPlan): Json {
  if (isJsonObject(value)) return dropFromMap(value, isJsonObject(before) ? before : undefined, plan)
  if (!Array.isArray(value)) return value
  const items = (value as readonly Json[]).map((item) => dropFromValue(item, undefined, plan.items))
  return items.every((item, index) => item === value[index]) ? value : items
}

function keepsNull({ schema }: FieldPlan): boolean {
  return schema === undefined || schema.nullable === true
}
