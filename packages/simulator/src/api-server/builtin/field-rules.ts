import { type IntOrString, percentOf } from '@cofferdam/kubernetes/api/int-or-string.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { FieldError } from '../schema/field-error.ts'
import { supportedValues } from '../schema/value-rules.ts'

export function nonNegativeErrors(value: number | undefined, field: string): FieldError[] {
  if (value === undefined || value >= 0) return []
  return [{ kind: 'Invalid', field, value, detail: 'must be greater than or equal to 0' }]
}

/** A count or a percentage, not below zero. */
export function intOrPercentErrors(value: IntOrString | undefined, field: string): FieldError[] {
  if (value === undefined) return []
  if (typeof value === 'number') return nonNegativeErrors(value, field)
  if (percentOf(value) !== undefined) return []
  const detail =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
  return [{ kind: 'Invalid', field, value, detail }]
}

export function atMostAllErrors(value: IntOrString | undefined, field: string): FieldError[] {
  if (value === undefined || (percentOf(value) ?? 0) <= 100) return []
  return [{ kind: 'Invalid', field, value, detail: 'must not be greater than 100%' }]
}

/** One of a closed list of values; absent is not checked. */
export function choiceErrors(value: string | undefined, choices: readonly string[], field: string): FieldError[] {
  if (value === undefined || value === '' || choices.includes(value)) return []
  return [{ kind: 'NotSupported', field, value, detail: supportedValues([...choices].sort()) }]
}

/** A field that keeps its first value. */
export function immutableErrors(next: unknown, previous: unknown, field: string): FieldError[] {
  if (isSameJson(next, previous)) return []
  return [{ kind: 'Invalid', field, value: next ?? null, detail: 'field is immutable' }]
}

export function requiredError(field: string, detail = ''): FieldError {
  return { kind: 'Required', field, detail }
}

export function invalidErrors(details: readonly string[], value: unknown, field: string): FieldError[] {
  return details.map((detail) => ({ kind: 'Invalid', field, value, detail }))
}
