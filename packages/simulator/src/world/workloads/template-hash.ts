import type { Json } from '@cofferdam/kubernetes/api/json.ts'

const letters = 'bcdfghjklmnpqrstvwxz2456789'

/** A short name for a value: the same for equal JSON, whatever the order of its fields. */
export function templateHash(value: unknown, collisions = 0): string {
  let hash = 0x811c9dc5
  const text = canonicalText(value as Json) + (collisions === 0 ? '' : `#${collisions}`)
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return Array.from(String(hash >>> 0), (digit) => letters[digit.charCodeAt(0) % letters.length]).join('')
}

function canonicalText(value: Json | undefined): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  const object = value as Readonly<Record<string, Json | undefined>>
  const fields = Object.keys(object).filter((field) => object[field] !== undefined)
  fields.sort()
  return `{${fields.map((field) => `${JSON.stringify(field)}:${canonicalText(object[field])}`).join(',')}}`
}
