import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { RE2JS } from 're2js'
import type { FieldError } from './field-error.ts'
import { isOfFormat } from './formats.ts'
import type { Schema } from './schema.ts'

/** What the schema says of one value beyond its type; what is inside the value is not checked. */
export function* brokenValueRules(value: unknown, schema: Schema, field: string): Generator<FieldError> {
  if (schema.enum !== undefined && !schema.enum.some((allowed) => isSameJson(allowed, value))) {
    yield { kind: 'NotSupported', field, value, detail: supportedValues(schema.enum) }
  }
  if (typeof value === 'string') yield* brokenTextRules(value, schema, field)
  else if (typeof value === 'number') yield* brokenNumberRules(value, schema, field)
  else if (Array.isArray(value)) yield* brokenListRules(value, schema, field)
  else if (typeof value === 'object' && value !== null) yield* brokenMapRules(value, schema, field)
}

/** `supported values: "a", "b"`. */
export function supportedValues(values: readonly unknown[]): string {
  const quoted = values.map((value) => JSON.stringify(typeof value === 'string' ? value : JSON.stringify(value)))
  return `supported values: ${quoted.join(', ')}`
}

function* brokenTextRules(text: string, schema: Schema, field: string): Generator<FieldError> {
  const { maxLength, minLength, pattern, format } = schema
  if (maxLength !== undefined && text.length > maxLength && Array.from(text).length > maxLength) {
    yield { kind: 'TooLong', field, detail: `may not be more than ${maxLength} ${maxLength === 1 ? 'byte' : 'bytes'}` }
  }
  if (minLength !== undefined && (text.length < minLength || Array.from(text).length < minLength)) {
    yield { kind: 'Invalid', field, value: text, detail: `${field} in body should be at least ${minLength} chars long` }
  }
  if (pattern !== undefined && !compiledPattern(pattern).matcher(text).find()) {
    yield { kind: 'Invalid', field, value: text, detail: `${field} in body should match '${pattern}'` }
  }
  if (format === 'quantity' && schema.decoded) {
    if (!isQuantity(text)) yield { kind: 'Invalid', field, value: text, detail: quantityRule }
  } else if (format !== undefined && !isOfFormat(text, format)) {
    yield { kind: 'TypeInvalid', field, value: text, detail: `${field} in body must be of type ${format}: "${text}"` }
  }
}

export const quantityRule =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

const quantity = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+|n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/

export function isQuantity(text: string): boolean {
  return quantity.test(text)
}

const limits: Readonly<Record<string, readonly [number, number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 63), 2 ** 63],
}

/** True when the number fits the integer format; other formats have no bounds. */
export function isWithinFormat(value: number, format: string | undefined): boolean {
  const bounds = format === undefined ? undefined : limits[format]
  return bounds === undefined || (value >= bounds[0] && value <= bounds[1])
}

function* brokenNumberRules(value: number, schema: Schema, field: string): Generator<FieldError> {
  const { minimum, maximum, multipleOf, format } = schema
  const broken = (detail: string): FieldError => ({
    kind: 'Invalid',
    field,
    value,
    detail: `${field} in body ${detail}`,
  })
  if (!isWithinFormat(value, format)) yield broken(`must be of type ${schema.type} with format ${format}`)
  if (minimum !== undefined) {
    if (schema.exclusiveMinimum === true) {
      if (value <= minimum) yield broken(`should be greater than ${minimum}`)
    } else if (value < minimum) yield broken(`should be greater than or equal to ${minimum}`)
  }
  if (maximum !== undefined) {
    if (schema.exclusiveMaximum === true) {
      if (value >= maximum) yield broken(`should be less than ${maximum}`)
    } else if (value > maximum) yield broken(`should be less than or equal to ${maximum}`)
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) yield broken(`should be a multiple of ${multipleOf}`)
}

function isMultiple(value: number, factor: number): boolean {
  const ratio = value / factor
  return Math.abs(ratio - Math.round(ratio)) < 1e-9
}

function* brokenListRules(list: readonly unknown[], schema: Schema, field: string): Generator<FieldError> {
  const { minItems, maxItems } = schema
  if (maxItems !== undefined && list.length > maxItems) yield tooMany(field, list.length, maxItems)
  if (minItems !== undefined && list.length < minItems) {
    const detail = `${field} in body should have at least ${minItems} items`
    yield { kind: 'Invalid', field, value: list.length, detail }
  }
  if (schema.decoded === true) return
  if (schema.uniqueItems === true && new Set(list.map(identity)).size < list.length) {
    yield { kind: 'Invalid', field, value: list, detail: `${field} in body shouldn't contain duplicates` }
  }
  if (schema['x-kubernetes-list-type'] === 'set') yield* duplicates(list, field)
  const keys = schema['x-kubernetes-list-type'] === 'map' ? schema['x-kubernetes-list-map-keys'] : undefined
  if (keys === undefined) return
  yield* duplicates(
    list.map((item) => Object.fromEntries(keys.map((key) => [key, (item as Record<string, unknown> | null)?.[key]]))),
    field,
  )
}

function* duplicates(values: readonly unknown[], field: string): Generator<FieldError> {
  const seen = new Set<string>()
  for (const [index, value] of values.entries()) {
    const text = identity(value)
    if (seen.has(text)) yield { kind: 'Duplicate', field: `${field}[${index}]`, value, detail: '' }
    seen.add(text)
  }
}

/** A text that is the same for equal JSON values, whatever the order of their fields. */
function identity(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

function* brokenMapRules(object: object, schema: Schema, field: string): Generator<FieldError> {
  const { minProperties, maxProperties } = schema
  if (minProperties === undefined && maxProperties === undefined) return
  const count = Object.keys(object).length
  if (maxProperties !== undefined && count > maxProperties) yield tooMany(field, count, maxProperties)
  if (minProperties !== undefined && count < minProperties) {
    const detail = `${field} in body should have at least ${minProperties} properties`
    yield { kind: 'Invalid', field, value: count, detail }
  }
}

function tooMany(field: string, value: number, most: number): FieldError {
  return { kind: 'TooMany', field, value, detail: `must have at most ${most} ${most === 1 ? 'item' : 'items'}` }
}

const patterns = new Map<string, RE2JS>()

/** @throws when the pattern is not a regular expression of the linear-time kind the API server uses */
export function compiledPattern(pattern: string): RE2JS {
  let compiled = patterns.get(pattern)
  if (compiled === undefined) {
    compiled = RE2JS.compile(pattern)
    if (patterns.size > 10_000) patterns.clear()
    patterns.set(pattern, compiled)
  }
  return compiled
}
