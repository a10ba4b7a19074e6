import { comparePathElements, type PathElement, selfElement } from './path-element.ts'

/**
 * A set of field paths as a trie, in the very form of FieldsV1, so that it can be stored and sent as it is.
 * A node without children is a member; a node with children is one only if it has a `.`.
 * Nodes are frozen and interned: equal sets are the same object, but for a cache that forgot. The empty set is `undefined`.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet
}

/** Marks sets made here, which are in canonical form. It adds nothing that JSON or a loop over fields would see. */
class CanonicalSet {}

function canonicalSet(parts: readonly [PathElement, FieldSet][]): FieldSet {
  const set = new CanonicalSet() as Record<PathElement, FieldSet>
  for (const [element, below] of parts) set[element] = below
  return Object.freeze(set)
}

/** A set with nothing below: the place itself is the member. */
export const leaf: FieldSet = canonicalSet([])

export function isCanonical(value: unknown): value is FieldSet {
  return value instanceof CanonicalSet
}

/**
 * A set in the making, and at the same time its place in the cache: whoever adds the same elements in the same order
 * passes through the same builders and ends at the same set, without hashing or comparing what lies below.
 */
export interface FieldSetBuilder {
  readonly before: FieldSetBuilder | undefined
  readonly element: PathElement
  readonly below: FieldSet
  set: FieldSet | undefined
  /** The step last taken from here; objects of one shape follow one another. */
  recent: FieldSetBuilder | undefined
  next: Map<PathElement, Map<FieldSet, FieldSetBuilder>> | undefined
}

const maximumBuilders = 50_000
let builders = 0
let empty = newBuilder(undefined, selfElement, leaf)

function newBuilder(before: FieldSetBuilder | undefined, element: PathElement, below: FieldSet): FieldSetBuilder {
  return { before, element, below, set: undefined, recent: undefined, next: undefined }
}

/** Where every set begins. */
export function emptyBuilder(): FieldSetBuilder {
  if (builders > maximumBuilders) {
    builders = 0
    empty = newBuilder(undefined, selfElement, leaf)
  }
  return empty
}

/** The builder with one more element. Assumes: the element was not added before. */
export function withElement(builder: FieldSetBuilder, element: PathElement, below: FieldSet): FieldSetBuilder {
  const { recent } = builder
  if (recent !== undefined && recent.below === below && recent.element === element) return recent
  builder.next ??= new Map()
  let byBelow = builder.next.get(element)
  if (byBelow === undefined) {
    byBelow = new Map()
    builder.next.set(element, byBelow)
  }
  let next = byBelow.get(below)
  if (next === undefined) {
    next = newBuilder(builder, element, below)
    byBelow.set(below, next)
    builders++
  }
  builder.recent = next
  return next
}

/** The set with all elements added; undefined when there are none. */
export function builtSet(builder: FieldSetBuilder): FieldSet | undefined {
  if (builder.before === undefined) return undefined
  builder.set ??= newSet(builder)
  return builder.set
}

function newSet(builder: FieldSetBuilder): FieldSet {
  const parts: [PathElement, FieldSet][] = []
  for (let step = builder; step.before !== undefined; step = step.before) parts.unshift([step.element, step.below])
  if (parts.length === 1 && parts[0]?.[0] === selfElement) return leaf
  const sorted = parts.toSorted(([left], [right]) => comparePathElements(left, right))
  let ordered = emptyBuilder()
  for (const [element, below] of sorted) ordered = withElement(ordered, element, below)
  ordered.set ??= canonicalSet(sorted)
  return ordered.set
}
