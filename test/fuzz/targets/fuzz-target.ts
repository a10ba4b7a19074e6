import { resolve } from 'node:path'

/** A parser of text that others write, and whole texts to damage. */
export interface FuzzTarget {
  readonly parse: (text: string) => unknown
  readonly seeds: readonly string[]
  /** Whether an error is its own way to refuse. Left out: it never throws. */
  readonly mayThrow?: (error: unknown) => boolean
}

export const root = resolve(import.meta.dirname, '../../..')
export const nowMs = Date.UTC(2026, 0, 1)

/** The fields of a text that are texts themselves, as an API server keeps annotations and the data of a ConfigMap. */
export function textsOf(text: string): Record<string, string> {
  const fields = fieldsOf(text)
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
  )
}

/** Whatever fields it has; none where it is no JSON object. */
export function fieldsOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
