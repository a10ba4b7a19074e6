import { Environment } from '@marcbachmann/cel-js'
import type { CompiledSchema } from './compiled-schema.ts'

/**
 * A JSON value as CEL sees it. The schema decides what JSON leaves open: `3` of type number is a double, a date-time is
 * a timestamp. Without a schema whole numbers are ints.
 */
export function celValue(value: unknown, node?: CompiledSchema): unknown {
  if (value === undefined || value === null || typeof value === 'boolean') return value
  if (typeof value === 'number') return node?.type !== 'number' && Number.isInteger(value) ? BigInt(value) : value
  if (typeof value === 'string') return node === undefined ? value : celText(value, node)
  if (Array.isArray(value)) return value.map((item) => celValue(item, node?.items))
  const fields: Record<string, unknown> = {}
  for (const field in value) {
    const property = node?.properties.get(field)
    const name = property === undefined ? field : nameInRules(field)
    fields[name] = celValue((value as Record<string, unknown>)[field], property ?? node?.additional)
  }
  return fields
}

const readDuration = new Environment().registerVariable('text', 'string').parse('duration(text)')

function celText(text: string, { schema, type }: CompiledSchema): unknown {
  if (type !== 'string') return text
  switch (schema.format) {
    case 'date':
    case 'date-time':
    case 'datetime':
      return new Date(text)
    case 'duration':
      return readDuration({ text })
    case 'byte':
      return new Uint8Array(Buffer.from(text, 'base64'))
    default:
      return text
  }
}

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

/** Property names that CEL could not read are spelled out in rules. */
export function escapedName(name: string): string {
  if (reserved.has(name)) return `__${name}__`
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !name.includes('__')) return name
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__')
}

/** Names of properties in schemas: there are not many, and each object of a kind has the same. */
const namesInRules = new Map<string, string>()

function nameInRules(property: string): string {
  let name = namesInRules.get(property)
  if (name === undefined) {
    name = escapedName(property)
    namesInRules.set(property, name)
  }
  return name
}

/** Equality of CEL values, as far as lists need it. */
export function isSameCel(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left === 'bigint' && typeof right === 'number') return Number(left) === right
  if (typeof left === 'number' && typeof right === 'bigint') return left === Number(right)
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime()
  const names = Object.keys(left)
  if (names.length !== Object.keys(right).length) return false
  return names.every((name) =>
    isSameCel((left as Record<string, unknown>)[name], (right as Record<string, unknown>)[name]),
  )
}
