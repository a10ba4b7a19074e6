export type JsonKind = 'array' | 'boolean' | 'null' | 'number' | 'object' | 'string'

/** By path, the kinds of values that stand there: `osds[].up` is a number in every OSD. */
export type JsonShape = ReadonlyMap<string, ReadonlySet<JsonKind>>

/**
 * Paths and kinds of all values of one answer; items of a list are taken together.
 * `named` tells objects whose keys are names of things (pools, buckets) and not of fields: those become `*`.
 */
export function jsonShapeOf(value: unknown, named?: RegExp): JsonShape {
  const shape = new Map<string, Set<JsonKind>>()
  visit(value, '')
  return shape

  function visit(item: unknown, path: string): void {
    const kinds = shape.get(path) ?? new Set()
    shape.set(path, kinds.add(kindOf(item)))
    if (Array.isArray(item)) for (const child of item) visit(child, `${path}[]`)
    else if (typeof item === 'object' && item !== null) {
      const isNamed = named?.test(path) === true
      for (const [key, child] of Object.entries(item)) visit(child, pathOf(path, isNamed ? '*' : key))
    }
  }
}

/** Everything that one shape has and the other lacks or has in another kind, in words. */
export function shapeGaps(shape: JsonShape, other: JsonShape): string[] {
  return [...shape]
    .flatMap(([path, kinds]): string[] => {
      const there = other.get(path)
      const here = [...kinds].sort().join(' or ')
      if (there === undefined) return [`${path}: ${here}, but missing there`]
      const isSame = [...kinds].every((kind) => there.has(kind))
      return isSame ? [] : [`${path}: ${here}, but ${[...there].sort().join(' or ')} there`]
    })
    .sort()
}

function pathOf(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function kindOf(value: unknown): JsonKind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as JsonKind
}
