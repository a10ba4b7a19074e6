/**
 * Lets a value that was just read use the parts of others that are equal to its own: texts, lists, objects. An object resembles what it was
 * before and its neighbours, so most labels, owners and conditions are then in memory once. Of two the first is taken.
 *
 * Guarantees: all are equal as JSON to what they were, and the others are not changed. The value itself is never replaced: whoever tells
 * objects apart by identity goes on to do so. What is frozen is left as it is: it is shared already.
 */
export function shareParts(value: unknown, first: unknown, second?: unknown): void {
  if (isShareable(value) && value !== first && value !== second) replaceParts(value, first, second)
}

type Shareable = Record<string, unknown>

/** Returns the one that all of the value is equal to. By hand for two: it is called for every part of every object that is read. */
function replaceParts(value: Shareable, first: unknown, second: unknown): Shareable | undefined {
  const one = isOfSameKind(value, first) ? first : undefined
  const other = isOfSameKind(value, second) ? second : undefined
  if ((one === undefined && other === undefined) || Object.isFrozen(value)) return undefined
  const fields = Object.keys(value)
  let isOne = one !== undefined && Object.keys(one).length === fields.length
  let isOther = other !== undefined && Object.keys(other).length === fields.length
  for (const field of fields) {
    const part = value[field]
    const [ofOne, ofOther] = [partOf(one, field), partOf(other, field)]
    const twin = part === ofOne || part === ofOther || !isShareable(part) ? part : replaceParts(part, ofOne, ofOther)
    // Equal texts may be two in memory, which no comparison shows.
    if (typeof part === 'string') value[field] = part === ofOne ? ofOne : part === ofOther ? ofOther : part
    else if (twin !== undefined) value[field] = twin
    isOne &&= ofOne === value[field]
    isOther &&= ofOther === value[field]
  }
  if (isOne) return one
  return isOther ? other : undefined
}

function partOf(like: Shareable | undefined, field: string): unknown {
  return like !== undefined && Object.hasOwn(like, field) ? like[field] : undefined
}

function isOfSameKind(value: Shareable, like: unknown): like is Shareable {
  return isShareable(like) && Array.isArray(like) === Array.isArray(value)
}

function isShareable(value: unknown): value is Shareable {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype
}
