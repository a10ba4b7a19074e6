/**
 * Lets a value that was just read use the parts of others that are equal to its own: texts, lists, objects. An object resembles what it was
 * before and its neighbours, so most labels, owners and conditions are then in memory once. Of several the first is taken.
 *
 * Guarantees: all are equal as JSON to what they were, and `likes` are not changed. The value itself is never replaced: whoever tells
 * objects apart by identity goes on to do so. What is frozen is left as it is: it is shared already.
 */
export function shareParts(value: unknown, ...likes: readonly unknown[]): void {
  if (isShareable(value) && !likes.includes(value)) replaceParts(value, likes)
}

type Shareable = Record<string, unknown>

/** Returns the first of them that all of the value is equal to. */
function replaceParts(value: Shareable, likes: readonly unknown[]): Shareable | undefined {
  if (Object.isFrozen(value)) return undefined
  const alike = likes.filter((like) => isShareable(like)).filter((like) => Array.isArray(like) === Array.isArray(value))
  if (alike.length === 0) return undefined
  const fields = Object.keys(value)
  let equal = alike.filter((like) => Object.keys(like).length === fields.length)
  for (const field of fields) {
    const part = value[field]
    const twins = alike.map((like) => (Object.hasOwn(like, field) ? like[field] : undefined))
    const isShared = twins.includes(part)
    const twin = isShared || !isShareable(part) ? twins.find((each) => each === part) : replaceParts(part, twins)
    const isEqual = isShared || twin !== undefined
    equal = isEqual ? equal.filter((like) => like[field] === twin) : []
    // Equal texts may be two in memory, which no comparison shows.
    if (isEqual && (typeof twin === 'string' || typeof twin === 'object')) value[field] = twin
  }
  return equal[0]
}

function isShareable(value: unknown): value is Shareable {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype
}
