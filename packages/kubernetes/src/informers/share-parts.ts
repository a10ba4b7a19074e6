/**
 * Lets a value that was just read use the parts of another one that are equal to its own: texts, lists, objects. Neighbours in a list
 * are alike, so most labels, owners and conditions are then in memory once.
 *
 * Guarantees: both are equal as JSON to what they were, and `like` is not changed. The value itself is never replaced: whoever tells
 * objects apart by identity goes on to do so. What is frozen is left as it is: it is shared already.
 */
export function shareParts(value: unknown, like: unknown): void {
  if (isShareable(value) && isShareable(like) && value !== like) replaceParts(value, like)
}

type Shareable = Record<string, unknown>

/** Returns whether nothing is left that differs. */
function replaceParts(value: Shareable, like: Shareable): boolean {
  if (Array.isArray(value) !== Array.isArray(like) || Object.isFrozen(value)) return false
  let isSame = Object.keys(value).length === Object.keys(like).length
  for (const field of Object.keys(value)) {
    const part = value[field]
    const twin = Object.hasOwn(like, field) ? like[field] : undefined
    const isEqual = part === twin || (isShareable(part) && isShareable(twin) && replaceParts(part, twin))
    if (!isEqual) isSame = false
    // Equal texts may be two in memory, which no comparison shows.
    else if (typeof twin === 'string' || typeof twin === 'object') value[field] = twin
  }
  return isSame
}

function isShareable(value: unknown): value is Shareable {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype
}
