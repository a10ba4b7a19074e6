import { isJsonObject, type Json } from '@cofferdam/kubernetes/api/json.ts'

/** A value as the real server prints it inside messages: `map[image:nginx ports:[80 443]]`. */
export function goValueText(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goValueText).join(' ')}]`
  if (typeof value === 'string') return value
  if (!isJsonObject(value)) return JSON.stringify(value)
  const fields = Object.keys(value)
    .toSorted()
    .map((name) => `${name}:${goValueText(value[name])}`)
  return `map[${fields.join(' ')}]`
}

/** A value as the real server prints it where it shows Go syntax: `map[string]interface {}{"a":1}`. */
export function goSyntax(value: Json | undefined): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const fields = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${goSyntax(value[name])}`)
  return `map[string]interface {}{${fields.join(', ')}}`
}

/** The name the real server gives to a value's type inside messages. */
export function goTypeName(value: Json | undefined): string {
  if (value === null || value === undefined) return '%!s(<nil>)'
  if (Array.isArray(value)) return '[]interface {}'
  if (isJsonObject(value)) return 'map[string]interface {}'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return typeof value === 'boolean' ? 'bool' : 'string'
}
