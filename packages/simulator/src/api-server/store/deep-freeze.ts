type Fields = Readonly<Record<string, unknown>>

const nothing: Fields = Object.freeze({})

/**
 * Freezes a value and all it reaches, in place. What it shares with `previous`, which is frozen, is not even visited: the
 * cost is that of the new path.
 *
 * Assumes: no cycles; whatever is frozen already is frozen all the way down.
 */
export function deepFreeze<T extends object>(value: T, previous: object = nothing): T {
  if (Object.isFrozen(value)) return value
  const before = previous as Fields
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) freezeChild(value[at], before[at])
  } else {
    for (const field in value) freezeChild(value[field], before[field])
  }
  return Object.freeze(value)
}

function freezeChild(child: unknown, before: unknown): void {
  if (child === before || typeof child !== 'object' || child === null) return
  deepFreeze(child, typeof before === 'object' && before !== null ? before : nothing)
}
