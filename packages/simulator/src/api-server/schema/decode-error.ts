import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { type CompiledSchema, compiledSchema } from './compiled-schema.ts'
import { fieldPath, type PathSteps } from './field-path.ts'
import { isBase64, isOfFormat } from './formats.ts'
import type { Schema } from './schema.ts'
import { typeNameOf } from './type-name.ts'
import { isQuantity, isWithinFormat, quantityRule } from './value-rules.ts'

/**
 * The 400 the real server answers when an object cannot be read into the types of its kind, or undefined when it can.
 * Of custom resources only apiVersion, kind and metadata are typed; their schema is held against them later, as a 422.
 * Subtrees shared with `previous` were read before.
 */
export function decodeErrorOf(
  object: unknown,
  schema: Schema,
  type: { readonly group: string; readonly version: string; readonly kind: string },
  previous?: unknown,
): ApiError | undefined {
  const path: PathSteps = []
  const problem = undecodable(object, previous, compiledSchema(schema, true), path)
  if (problem === undefined) return undefined
  return new ApiError(
    'BadRequest',
    `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${problem}`,
  )
}

/** Says what is wrong with the first value that is; leaves its path behind. Null is the zero value of every type. */
function undecodable(value: unknown, previous: unknown, node: CompiledSchema, path: PathSteps): string | undefined {
  if (value === undefined || value === null || value === previous) return undefined
  if (node.decoded && !fits(value, node)) return problemOf(value, node, path)
  if (typeof value !== 'object') return undefined
  if (Array.isArray(value)) {
    const { items } = node
    if (items === undefined) return undefined
    const before = Array.isArray(previous) ? previous : undefined
    for (let index = 0; index < value.length; index += 1) {
      path.push(index)
      const problem = undecodable(value[index], before?.[index], items, path)
      if (problem !== undefined) return problem
      path.pop()
    }
    return undefined
  }
  const { properties, additional } = node
  if (properties.size === 0 && additional === undefined) return undefined
  const before = typeof previous === 'object' && previous !== null ? (previous as Record<string, unknown>) : undefined
  for (const field in value) {
    const child = properties.get(field) ?? additional
    if (child === undefined) continue
    path.push(field)
    const problem = undecodable((value as Record<string, unknown>)[field], before?.[field], child, path)
    if (problem !== undefined) return problem
    path.pop()
  }
  return undefined
}

function fits(value: unknown, node: CompiledSchema): boolean {
  if (node.intOrString) return typeof value === 'string' || Number.isInteger(value)
  if (node.quantity) return typeof value === 'number' || (typeof value === 'string' && isQuantity(value))
  switch (node.type) {
    case undefined:
      return true
    case 'object':
      return typeof value === 'object' && !Array.isArray(value)
    case 'array':
      return Array.isArray(value)
    case 'integer':
      return Number.isInteger(value) && isWithinFormat(value as number, node.schema.format)
    case 'string':
      return typeof value === 'string' && (node.schema.format === undefined || isReadable(value, node.schema.format))
    default:
      return typeof value === node.type
  }
}

function isReadable(text: string, format: string): boolean {
  if (format === 'byte') return isBase64(text.replace(/[\r\n]/g, ''))
  if (format === 'micro-time') return isOfFormat(text, 'date-time') && /\.\d{6}(Z|[+-])/.test(text)
  return isOfFormat(text, format)
}

const wholeSeconds = '2006-01-02T15:04:05Z07:00'
const timeLayouts: Readonly<Record<string, string>> = { 'micro-time': '2006-01-02T15:04:05.000000Z07:00' }

const goTypes: Readonly<Record<string, string>> = {
  boolean: 'bool',
  number: 'float64',
  object: 'struct',
  array: 'slice',
  string: 'string',
}

function problemOf(value: unknown, node: CompiledSchema, path: PathSteps): string {
  const field = fieldPath(path)
  const { type } = node
  if (node.quantity && typeof value === 'string') return `${field}: ${quantityRule}`
  if (typeof value === 'string' && type === 'string') {
    const { format } = node.schema
    return format === 'byte'
      ? `json: cannot unmarshal ${field}: illegal base64 data`
      : `${field}: parsing time ${JSON.stringify(value)} as "${timeLayouts[format ?? ''] ?? wholeSeconds}": cannot parse it`
  }
  const goType = node.intOrString
    ? 'int32'
    : node.quantity
      ? 'quantity'
      : type === 'integer'
        ? (node.schema.format ?? 'int64')
        : (goTypes[type ?? ''] ?? 'string')
  const found = typeof value === 'number' && goType.startsWith('int') ? `number ${value}` : jsonWord(value)
  return `json: cannot unmarshal ${found} into Go struct field ${field} of type ${goType}`
}

function jsonWord(value: unknown): string {
  const name = typeNameOf(value)
  return name === 'boolean' ? 'bool' : name === 'integer' ? 'number' : name
}
