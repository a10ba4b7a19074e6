export type Json = null | boolean | number | string | readonly Json[] | JsonObject

export interface JsonObject {
  readonly [field: string]: Json | undefined
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Structural equality of JSON values. Shared references compare in constant time; fields that are `undefined` count as absent. */
export function isSameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false
    return left.every((item, index) => isSameJson(item, right[index]))
  }
  const a = left as Record<string, unknown>
  const b = right as Record<string, unknown>
  // Own fields only: every object inherits a `toString`, and some have one of their own.
  for (const field in a) {
    const value = a[field]
    if (value === undefined || value === b[field]) continue
    if (!(Object.hasOwn(b, field) && isSameJson(value, b[field]))) return false
  }
  for (const field in b) {
    if (b[field] !== undefined && !(Object.hasOwn(a, field) && a[field] !== undefined)) return false
  }
  return true
}
