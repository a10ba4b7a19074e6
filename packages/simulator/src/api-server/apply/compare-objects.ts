import { isJsonObject, isSameJson, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { ownField } from '../patch/own-field.ts'
import type { FieldPlan } from './field-plan.ts'
import { difference } from './field-set.ts'
import { builtSet, emptyBuilder, type FieldSet, leaf, withElement } from './field-set-builder.ts'
import { fieldsOfAddedValue } from './fields-of-object.ts'
import { itemElement, itemsByElement } from './list-items.ts'
import type { PathElement } from './path-element.ts'

/** What one write did to an object's fields. */
export interface FieldChanges {
  /** Fields that are new or have another value. */
  readonly changed: FieldSet | undefined
  readonly removed: FieldSet | undefined
}

/**
 * What differs between two objects of one kind; undefined when nothing does.
 * Parts that are the same reference on both sides are not compared.
 */
export function compareObjects(
  before: JsonObject,
  after: JsonObject,
  options: { readonly plan: FieldPlan; readonly ignored?: readonly string[] | undefined },
): FieldChanges | undefined {
  return compareMaps(before, after, options.plan, options.ignored)
}

class Changes {
  #changed = emptyBuilder()
  #removed = this.#changed

  add(element: PathElement, changes: FieldChanges | undefined): void {
    if (changes?.changed !== undefined) this.#changed = withElement(this.#changed, element, changes.changed)
    if (changes?.removed !== undefined) this.#removed = withElement(this.#removed, element, changes.removed)
  }

  done(): FieldChanges | undefined {
    const changed = builtSet(this.#changed)
    const removed = builtSet(this.#removed)
    return changed === undefined && removed === undefined ? undefined : { changed, removed }
  }
}

const leafChanged: FieldChanges = { changed: leaf, removed: undefined }

function compareMaps(
  before: JsonObject,
  after: JsonObject,
  plan: FieldPlan,
  ignored?: readonly string[],
): FieldChanges | undefined {
  let changes: Changes | undefined
  let found = 0
  for (const name in after) {
    const right = ownField(after, name)
    const left = ownField(before, name)
    if (left !== undefined && right !== undefined) found++
    if (left === right || right === undefined || ignored?.includes(name)) continue
    const slot = plan.slot(name)
    if (slot.isUnowned) continue
    changes ??= new Changes()
    changes.add(slot.element, compareValues(left ?? slot.whenAbsent, right, slot.plan))
  }
  if (found === Object.keys(before).length) return changes?.done()
  for (const name in before) {
    const left = ownField(before, name)
    if (left === undefined || ownField(after, name) !== undefined || ignored?.includes(name)) continue
    const slot = plan.slot(name)
    if (slot.isUnowned) continue
    changes ??= new Changes()
    changes.add(slot.element, compareValues(left, slot.whenAbsent, slot.plan))
  }
  return changes?.done()
}

function compareValues(left: Json | undefined, right: Json | undefined, plan: FieldPlan): FieldChanges | undefined {
  if (left === right) return undefined
  if (left === undefined) return { changed: fieldsOfAddedValue(right as Json, plan), removed: undefined }
  if (right === undefined) return { changed: undefined, removed: fieldsOfAddedValue(left, plan) }
  const shape = shapeOf(right, plan) ?? shapeOf(left, plan)
  if (left !== null && shapeOf(left, plan) !== shape) return compareShapes(left, right, plan)
  if (shape === 'map' && !(isEmpty(left) && isEmpty(right))) {
    return compareMaps((left ?? {}) as JsonObject, (right ?? {}) as JsonObject, plan)
  }
  if (shape === 'list' && !(isEmpty(left) && isEmpty(right))) {
    return compareLists((left ?? []) as readonly Json[], (right ?? []) as readonly Json[], plan)
  }
  return isSameJson(left, right) ? undefined : leafChanged
}

/** One side has parts and the other is something else: the parts go or come, and the place itself changes. */
function compareShapes(left: Json, right: Json, plan: FieldPlan): FieldChanges {
  return {
    changed: fieldsOfAddedValue(right, plan),
    removed: difference(fieldsOfAddedValue(left, plan), leaf),
  }
}

/** Null takes the shape of what it is compared with. */
function shapeOf(value: Json, plan: FieldPlan): 'map' | 'list' | 'leaf' | undefined {
  if (value === null) return undefined
  if (Array.isArray(value)) return plan.list === 'atomic' ? 'leaf' : 'list'
  return isJsonObject(value) && !plan.isAtomicMap ? 'map' : 'leaf'
}

function isEmpty(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (isJsonObject(value)) for (const name in value) if (value[name] !== undefined) return false
  return true
}

function compareLists(left: readonly Json[], right: readonly Json[], plan: FieldPlan): FieldChanges | undefined {
  return left.length === right.length ? compareInPlace(left, right, plan) : compareByElement(left, right, plan)
}

/** Most updates leave items where they were; only items that are not the same reference need a name. */
function compareInPlace(left: readonly Json[], right: readonly Json[], plan: FieldPlan): FieldChanges | undefined {
  let changes: Changes | undefined
  let counts: ReadonlyMap<string, number> | undefined
  for (let index = 0; index < right.length; index++) {
    if (left[index] === right[index]) continue
    const element = itemElement(right[index], plan)
    counts ??= countElements(right, plan)
    if (element === undefined || element !== itemElement(left[index], plan) || counts.get(element) !== 1) {
      return compareByElement(left, right, plan)
    }
    changes ??= new Changes()
    changes.add(element, compareValues(left[index], right[index], plan.items))
  }
  return changes?.done()
}

function countElements(items: readonly Json[], plan: FieldPlan): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) {
    const element = itemElement(item, plan)
    if (element !== undefined) counts.set(element, (counts.get(element) ?? 0) + 1)
  }
  return counts
}

function compareByElement(left: readonly Json[], right: readonly Json[], plan: FieldPlan): FieldChanges | undefined {
  const before = itemsByElement(left, plan)
  const after = itemsByElement(right, plan)
  const changes = new Changes()
  for (const element of new Set([...before.keys(), ...after.keys()])) {
    changes.add(element, compareItems(before.get(element) ?? [], after.get(element) ?? [], plan.items))
  }
  return changes.done()
}

/** Items of one name: one on each side is the rule; several count as one indivisible value. */
function compareItems(left: readonly Json[], right: readonly Json[], plan: FieldPlan): FieldChanges | undefined {
  if (left.length <= 1 && right.length <= 1) return compareValues(left[0], right[0], plan)
  if (left.length >= 2 && right.length >= 2) return isSameJson(left, right) ? undefined : leafChanged
  if (left.length >= 2) {
    return {
      changed: right.length === 0 ? undefined : compareValues(undefined, right[0], plan)?.changed,
      removed: leaf,
    }
  }
  return { changed: leaf, removed: left.length === 0 ? undefined : compareValues(left[0], undefined, plan)?.removed }
}
