/**
 * Freezes a value and all it reaches, in place.
 *
 * Assumes: whatever is frozen already is frozen all the way down, so that a path-copied object costs only its new path.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) deepFreeze(value[at])
  } else {
    for (const field in value) deepFreeze(value[field])
  }
  return value
}
