import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { type CompiledSchema, compiledSchema } from './compiled-schema.ts'
import { earlierItem } from './earlier-item.ts'
import type { FieldError, FieldErrorKind } from './field-error.ts'
import { fieldPath, type PathSteps } from './field-path.ts'
import type { Schema } from './schema.ts'
import { typeNameOf } from './type-name.ts'
import { brokenCelRules, holdsRules } from './validate-rules.ts'
import { brokenValueRules } from './value-rules.ts'

export interface ValidateOptions {
  /** What is stored now. What did not change since is not held against the writer. */
  readonly previous?: unknown
  /** The value is a whole object (the default), with apiVersion, kind and metadata. */
  readonly isRoot?: boolean
  /** What was found wrong with it before; it comes first in what is returned. */
  readonly found?: readonly FieldError[]
}

/** Everything in which the value departs from its schema, worded as the real server words it. */
export function validateBySchema(next: unknown, schema: Schema, options: ValidateOptions = {}): FieldError[] {
  const walk: Walk = { path: [], errors: [...(options.found ?? [])] }
  const root = compiledSchema(schema, options.isRoot ?? true)
  check(next, options.previous, root, walk)
  if (root.decoded) return walk.errors
  if (!walk.errors.some(({ kind }) => blocking.has(kind))) {
    return [...walk.errors, ...brokenCelRules(next, options.previous, root)]
  }
  return holdsRules(root) ? [...walk.errors, rulesNotChecked] : walk.errors
}

/** Rules cannot be trusted with a value that is not even of the right shape. */
const blocking: ReadonlySet<FieldErrorKind> = new Set(['Required', 'TooLong', 'TooMany', 'TypeInvalid'])

const rulesNotChecked: FieldError = {
  kind: 'Invalid',
  field: '<nil>',
  value: null,
  detail:
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
}

interface Walk {
  readonly path: PathSteps
  readonly errors: FieldError[]
}

function check(value: unknown, previous: unknown, node: CompiledSchema, walk: Walk): void {
  if (value === previous && value !== undefined) return
  const before = walk.errors.length
  checkChanged(value, previous, node, walk)
  if (walk.errors.length > before && previous !== undefined && isSameJson(value, previous)) walk.errors.length = before
}

function checkChanged(value: unknown, previous: unknown, node: CompiledSchema, walk: Walk): void {
  if (!node.decoded && !isOfType(value, node)) {
    walk.errors.push(typeError(value, node, walk.path))
    return
  }
  if (typeof value === 'object' && value !== null) {
    if (Array.isArray(value)) checkItems(value, previous, node, walk)
    else checkFields(value as Record<string, unknown>, previous, node, walk)
  }
  if (node.hasValueRules) {
    const { schema } = node
    if (value !== null) walk.errors.push(...brokenValueRules(value, schema, fieldPath(walk.path)))
    if (schema.allOf ?? schema.anyOf ?? schema.oneOf ?? schema.not) checkCombinations(value, node, walk)
  }
}

function isOfType(value: unknown, { type, intOrString, nullable }: CompiledSchema): boolean {
  if (value === null) return nullable || (type === undefined && !intOrString)
  if (intOrString) return typeof value === 'string' || Number.isInteger(value)
  switch (type) {
    case undefined:
      return true
    case 'object':
      return typeof value === 'object' && !Array.isArray(value)
    case 'array':
      return Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

function typeError(value: unknown, node: CompiledSchema, path: PathSteps): FieldError {
  const field = fieldPath(path)
  const found = typeNameOf(value)
  const expected = node.intOrString ? 'integer,string' : node.type
  return {
    kind: 'TypeInvalid',
    field,
    value: found,
    detail: `${field} in body must be of type ${expected}: "${found}"`,
  }
}

function checkFields(object: Record<string, unknown>, previous: unknown, node: CompiledSchema, walk: Walk): void {
  const { properties, additional, required, decoded } = node
  for (const field of required) {
    const value = object[field]
    if (value === undefined || !Object.hasOwn(object, field) || (decoded && value === '')) {
      walk.errors.push({ kind: 'Required', field: fieldPath(walk.path, field), detail: '' })
    }
  }
  if (properties.size === 0 && additional === undefined) return
  const before = typeof previous === 'object' && previous !== null ? (previous as Record<string, unknown>) : undefined
  for (const field in object) {
    const child = properties.get(field) ?? additional
    if (child === undefined) continue
    const value = object[field]
    if (value === undefined || (child.decoded && typeof value !== 'object')) continue
    walk.path.push(field)
    check(value, before?.[field], child, walk)
    if (field === 'metadata' && node.metadataRules) check(value, before?.[field], node.metadataRules, walk)
    walk.path.pop()
  }
}

function checkItems(list: readonly unknown[], previous: unknown, node: CompiledSchema, walk: Walk): void {
  if (node.items === undefined) return
  const before = Array.isArray(previous) ? previous : undefined
  for (let index = 0; index < list.length; index += 1) {
    const item = list[index]
    walk.path.push(index)
    check(item, before && earlierItem({ item, index, earlier: before, node }), node.items, walk)
    walk.path.pop()
  }
}

/** `allOf`, `anyOf`, `oneOf` and `not`: each alternative is a schema of values, walked on its own. */
function checkCombinations(value: unknown, { schema }: CompiledSchema, walk: Walk): void {
  const place = JSON.stringify(fieldPath(walk.path))
  const errorsOf = (alternative: Schema): FieldError[] => {
    const inner: Walk = { path: walk.path, errors: [] }
    check(value, undefined, compiledSchema(alternative, false), inner)
    return inner.errors
  }
  const whole = (detail: string) => walk.errors.push({ kind: 'Invalid', field: '<nil>', value: '', detail })
  for (const part of schema.allOf ?? []) {
    const errors = errorsOf(part)
    walk.errors.push(...errors)
    if (errors.length > 0) whole(`${place} must validate all the schemas (allOf)`)
  }
  if (schema.anyOf) {
    const outcomes = schema.anyOf.map(errorsOf)
    if (!outcomes.some((errors) => errors.length === 0)) {
      walk.errors.push(...nearest(outcomes))
      whole(`${place} must validate at least one schema (anyOf)`)
    }
  }
  if (schema.oneOf) {
    const outcomes = schema.oneOf.map(errorsOf)
    const valid = outcomes.filter((errors) => errors.length === 0).length
    if (valid === 0) walk.errors.push(...nearest(outcomes))
    const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
    if (valid !== 1) whole(`${place} must validate one and only one schema (oneOf). ${found}`)
  }
  if (schema.not && errorsOf(schema.not).length === 0) whole(`${place} must not validate the schema (not)`)
}

/** The errors of the alternative that came closest, the first of several. */
function nearest(outcomes: readonly FieldError[][]): readonly FieldError[] {
  return outcomes.reduce((best, errors) => (errors.length < best.length ? errors : best))
}
