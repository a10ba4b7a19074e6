import type { Json, JsonObject } from '@cofferdam/kubernetes/api/json.ts'

/** An object under construction, before it is handed out. */
export type JsonDraft = Record<string, Json | undefined>

/** Reads a field by a name that came from outside: `constructor` or `__proto__` never reach what the object inherits. */
export function ownField(object: JsonObject, name: string): Json | undefined {
  const value = object[name]
  if (typeof value === 'function' || name === '__proto__') return Object.hasOwn(object, name) ? value : undefined
  return value
}

/** Writes a field by a name that came from outside: `__proto__` becomes a plain field and changes no prototype. */
export function setOwnField(draft: JsonDraft, name: string, value: Json): void {
  if (name === '__proto__') {
    Object.defineProperty(draft, name, { value, enumerable: true, configurable: true, writable: true })
  } else {
    draft[name] = value
  }
}
