import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { type JsonDraft, ownField, setOwnField } from '../patch/own-field.ts'
import type { FieldPlan } from './field-plan.ts'
import { isMember, parseFieldSet, union } from './field-set.ts'
import type { FieldSet } from './field-set-builder.ts'
import { itemElement } from './list-items.ts'

/** What an applier gave up, and what somebody still wants. */
interface Removal {
  readonly plan: FieldPlan
  readonly given: FieldSet
  readonly kept: FieldSet | undefined
}

/** No applier owns the name of an object, but each one names it, so metadata stays whatever else they give up. */
const identity = parseFieldSet({ 'f:metadata': { 'f:name': {} } })

/**
 * The object without the fields in `given` that are not in `kept`. A field the schema names goes with all it holds when
 * nobody keeps anything in it; a container that loses all its parts, but not its place, is left as null.
 */
export function removeFields(object: JsonObject, removal: Removal): JsonObject {
  return removeFromMap(object, { ...removal, kept: union(removal.kept, identity) })
}

function removeFromMap(map: JsonObject, { plan, given, kept }: Removal): JsonObject {
  let rest: JsonDraft | undefined
  for (const name of Object.keys(map)) {
    const value = ownField(map, name)
    const slot = plan.slot(name)
    const givenHere = given[slot.element]
    if (value === undefined || givenHere === undefined) continue
    const keptHere = kept?.[slot.element]
    const isGiven = slot.isDeclared || isMember(givenHere)
    const isKept = keptHere !== undefined && (slot.isDeclared || isMember(keptHere))
    const remaining =
      isGiven && !isKept ? undefined : removeFromValue(value, { plan: slot.plan, given: givenHere, kept: keptHere })
    if (remaining === value) continue
    rest ??= { ...map }
    if (remaining === undefined) delete rest[name]
    else setOwnField(rest, name, remaining)
  }
  return rest ?? map
}

function removeFromValue(value: Json, removal: Removal): Json | undefined {
  if (Array.isArray(value)) {
    if (removal.plan.list === 'atomic') return value
    const rest = removeFromList(value, removal)
    return rest.length === 0 && value.length > 0 ? null : rest
  }
  if (!isJsonObject(value) || removal.plan.isAtomicMap) return value
  const rest = removeFromMap(value, removal)
  return rest !== value && Object.keys(rest).length === 0 ? null : rest
}

function removeFromList(list: readonly Json[], { plan, given, kept }: Removal): readonly Json[] {
  const rest: Json[] = []
  for (const item of list) {
    const element = itemElement(item, plan)
    const givenHere = element === undefined ? undefined : given[element]
    if (element === undefined || givenHere === undefined) {
      rest.push(item)
      continue
    }
    const keptHere = kept?.[element]
    if (isMember(givenHere) && !(keptHere !== undefined && isMember(keptHere))) continue
    rest.push(removeFromValue(item, { plan: plan.items, given: givenHere, kept: keptHere }) ?? {})
  }
  return rest.length === list.length && rest.every((item, index) => item === list[index]) ? list : rest
}
