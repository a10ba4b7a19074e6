import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { ownField } from '../patch/own-field.ts'
import type { FieldPlan } from './field-plan.ts'
import { builtSet, emptyBuilder, type FieldSet, type FieldSetBuilder, leaf, withElement } from './field-set-builder.ts'
import { itemElement } from './list-items.ts'
import { type PathElement, selfElement } from './path-element.ts'

/**
 * `applied`: the fields a configuration claims; containers the schema names are not claimed, only what is in them.
 * `added`: the fields that come or go with a value; its containers come and go with it.
 */
type Claim = 'applied' | 'added'

/** The fields of a whole object that a configuration claims. */
export function fieldsOfObject(object: JsonObject, plan: FieldPlan): FieldSet | undefined {
  return builtSet(addFields(emptyBuilder(), object, plan, 'applied'))
}

/** The fields of a value that was not there, or that will not be. */
export function fieldsOfAddedValue(value: Json, plan: FieldPlan): FieldSet {
  return fieldsOfClaimed(value, plan, 'added')
}

/** The fields of one value, with its own place; a value that is one whole is a leaf. */
function fieldsOfClaimed(value: Json, plan: FieldPlan, claim: Claim): FieldSet {
  if (isWhole(value, plan)) return leaf
  return builtSet(addParts(withElement(emptyBuilder(), selfElement, leaf), value, plan, claim)) ?? leaf
}

/** The fields of one value without its own place, which is only claimed when it is all there is. */
function fieldsOfUnclaimed(value: Json, plan: FieldPlan, claim: Claim): FieldSet | undefined {
  if (isWhole(value, plan) || (isJsonObject(value) && isEmpty(value))) return leaf
  return builtSet(addParts(emptyBuilder(), value, plan, claim))
}

function isWhole(value: Json, plan: FieldPlan): boolean {
  if (Array.isArray(value)) return plan.list === 'atomic'
  return !isJsonObject(value) || plan.isAtomicMap
}

function addParts(builder: FieldSetBuilder, value: Json, plan: FieldPlan, claim: Claim): FieldSetBuilder {
  return Array.isArray(value)
    ? addItems(builder, value as readonly Json[], plan, claim)
    : addFields(builder, value as JsonObject, plan, claim)
}

function addFields(start: FieldSetBuilder, map: JsonObject, plan: FieldPlan, claim: Claim): FieldSetBuilder {
  let builder = start
  for (const name in map) {
    const value = ownField(map, name)
    if (value === undefined) continue
    const slot = plan.slot(name)
    if (slot.isUnowned) continue
    const isClaimed = claim === 'added' || !slot.isDeclared
    const set = isClaimed ? fieldsOfClaimed(value, slot.plan, claim) : fieldsOfUnclaimed(value, slot.plan, claim)
    if (set !== undefined) builder = withElement(builder, slot.element, set)
  }
  return builder
}

function addItems(start: FieldSetBuilder, list: readonly Json[], plan: FieldPlan, claim: Claim): FieldSetBuilder {
  const sets = new Map<PathElement, FieldSet>()
  for (const item of list) {
    const element = itemElement(item, plan)
    if (element === undefined) continue
    // Items of one name cannot be told apart, so they are owned together or not at all.
    sets.set(element, sets.has(element) ? leaf : fieldsOfClaimed(item, plan.items, claim))
  }
  let builder = start
  for (const [element, set] of sets) builder = withElement(builder, element, set)
  return builder
}

function isEmpty(map: JsonObject): boolean {
  for (const name in map) if (map[name] !== undefined) return false
  return true
}
