import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'

/**
 * One step of a path, in the notation of FieldsV1: `f:name` is a field, `k:{"name":"a"}` the list item with these keys,
 * `v:"x"` the member of a set, `i:3` an index. `.` marks that the place itself belongs to the set.
 */
export type PathElement = string

export const selfElement = '.'

/** The canonical spelling of an element somebody sent; undefined for a notation we do not know. */
export function parsePathElement(element: string): PathElement | undefined {
  if (element.length < 2 || element[1] !== ':') throw new SyntaxError(`missing colon: ${element}`)
  const kind = element[0]
  const content = element.slice(2)
  if (kind === 'f') return element
  if (kind === 'v') return `v:${JSON.stringify(JSON.parse(content))}`
  if (kind === 'i' && /^-?\d+$/.test(content)) return element
  if (kind !== 'k') return undefined
  const keys: unknown = JSON.parse(content)
  if (!isJsonObject(keys)) throw new SyntaxError(`not a key: ${element}`)
  return `k:${JSON.stringify(Object.fromEntries(Object.entries(keys).toSorted(([a], [b]) => compareText(a, b))))}`
}

/** The order in which the real server writes elements: fields, keys, values, indexes; numbers by size. */
export function comparePathElements(left: PathElement, right: PathElement): number {
  const leftRank = rankOf(left)
  const rightRank = rankOf(right)
  if (leftRank !== rightRank) return leftRank - rightRank
  if (leftRank <= 1) return compareText(left, right)
  if (leftRank === 2) return compareKeys(contentOf(left) as JsonObject, contentOf(right) as JsonObject)
  return compareValues(contentOf(left), contentOf(right))
}

/** An element as it stands in messages: `.spec`, `[name="a"]`, `[="x"]`, `[3]`. */
export function pathElementText(element: PathElement): string {
  const kind = element[0]
  if (kind === 'f') return `.${element.slice(2)}`
  if (kind === 'i') return `[${element.slice(2)}]`
  if (kind === 'v') return `[=${element.slice(2)}]`
  const keys = Object.entries(contentOf(element) as JsonObject)
  return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`
}

function contentOf(element: PathElement): Json {
  return JSON.parse(element.slice(2)) as Json
}

function rankOf(element: PathElement): number {
  return element === selfElement ? 0 : ['f', 'k', 'v', 'i'].indexOf(element[0] as string) + 1
}

function compareKeys(left: JsonObject, right: JsonObject): number {
  const leftKeys = Object.entries(left)
  const rightKeys = Object.entries(right)
  for (let index = 0; index < Math.min(leftKeys.length, rightKeys.length); index++) {
    const [leftName, leftValue] = leftKeys[index] as [string, Json]
    const [rightName, rightValue] = rightKeys[index] as [string, Json]
    const order = compareText(leftName, rightName) || compareValues(leftValue, rightValue)
    if (order !== 0) return order
  }
  return leftKeys.length - rightKeys.length
}

const typeOrder = ['number', 'string', 'boolean', 'object']

function compareValues(left: Json, right: Json): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right)
  return (
    typeOrder.indexOf(typeof left) - typeOrder.indexOf(typeof right) ||
    compareText(JSON.stringify(left), JSON.stringify(right))
  )
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
