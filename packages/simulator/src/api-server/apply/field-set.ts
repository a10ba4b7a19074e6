import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { builtSet, emptyBuilder, type FieldSet, isCanonical, leaf, withElement } from './field-set-builder.ts'
import { type PathElement, parsePathElement, pathElementText, selfElement } from './path-element.ts'

/** Reads a set that somebody sent. Throws a SyntaxError when it is not in the notation of FieldsV1. */
export function parseFieldSet(value: unknown): FieldSet | undefined {
  if (!isJsonObject(value)) throw new SyntaxError('not a set of fields')
  if (isCanonical(value)) return value === leaf ? undefined : value
  const found = new Map<PathElement, FieldSet>()
  for (const sent of Object.keys(value)) {
    const element = sent === selfElement ? undefined : parsePathElement(sent)
    if (element !== undefined) found.set(element, union(found.get(element), parseNode(value[sent])) ?? leaf)
  }
  let builder = emptyBuilder()
  for (const [element, below] of found) builder = withElement(builder, element, below)
  return builtSet(builder)
}

function parseNode(value: unknown): FieldSet {
  const below = parseFieldSet(value)
  if (below === undefined) return leaf
  return isJsonObject(value) && Object.hasOwn(value, selfElement) ? (union(below, leaf) ?? leaf) : below
}

/** Whether the place of this node is itself in the set, beside what lies below it. */
export function isMember(set: FieldSet): boolean {
  return set === leaf || set[selfElement] !== undefined
}

export function union(left: FieldSet | undefined, right: FieldSet | undefined): FieldSet | undefined {
  if (left === undefined) return right
  if (right === undefined || includes(left, right)) return left
  let builder = emptyBuilder()
  if (isMember(left) || isMember(right)) builder = withElement(builder, selfElement, leaf)
  for (const element in left) {
    if (element !== selfElement) builder = withElement(builder, element, union(left[element], right[element]) ?? leaf)
  }
  for (const element in right) {
    if (element !== selfElement && left[element] === undefined) {
      builder = withElement(builder, element, right[element] ?? leaf)
    }
  }
  return builtSet(builder)
}

/** Whether every member of the second set is a member of the first. */
function includes(left: FieldSet, right: FieldSet): boolean {
  if (left === right) return true
  if (isMember(right) && !isMember(left)) return false
  for (const element in right) {
    if (element === selfElement) continue
    const mine = left[element]
    if (mine === undefined || !includes(mine, right[element] ?? leaf)) return false
  }
  return true
}

/** The members of the first set that are not members of the second; what lies below a shared member stays. */
export function difference(left: FieldSet | undefined, right: FieldSet | undefined): FieldSet | undefined {
  if (left === undefined || right === undefined || !overlap(left, right)) return left
  if (left === right) return undefined
  let builder = emptyBuilder()
  if (isMember(left) && !isMember(right)) builder = withElement(builder, selfElement, leaf)
  for (const element in left) {
    const rest = element === selfElement ? undefined : difference(left[element], right[element])
    if (rest !== undefined) builder = withElement(builder, element, rest)
  }
  return builtSet(builder)
}

/** Whether the sets have a member in common. */
function overlap(left: FieldSet, right: FieldSet): boolean {
  if (left === right || (isMember(left) && isMember(right))) return true
  for (const element in right) {
    const mine = left[element]
    if (mine !== undefined && element !== selfElement && overlap(mine, right[element] ?? leaf)) return true
  }
  return false
}

export function intersection(left: FieldSet | undefined, right: FieldSet | undefined): FieldSet | undefined {
  if (left === undefined || right === undefined) return undefined
  if (left === right) return left
  let builder = emptyBuilder()
  if (isMember(left) && isMember(right)) builder = withElement(builder, selfElement, leaf)
  for (const element in right) {
    const both = element === selfElement ? undefined : intersection(left[element], right[element])
    if (both !== undefined) builder = withElement(builder, element, both)
  }
  return builtSet(builder)
}

export function isSameFieldSet(left: FieldSet | undefined, right: FieldSet | undefined): boolean {
  if (left === undefined || right === undefined) return left === right
  return includes(left, right) && includes(right, left)
}

/** Every member as text, such as `.spec.containers[name="a"].image`; at each level the members stand before what is below. */
export function* pathsOf(set: FieldSet | undefined, prefix = ''): Generator<string> {
  if (set === undefined) return
  const below = Object.entries(set).filter(([element]) => element !== selfElement)
  for (const [element, node] of below) if (isMember(node)) yield prefix + pathElementText(element)
  for (const [element, node] of below) yield* pathsOf(node, prefix + pathElementText(element))
}
