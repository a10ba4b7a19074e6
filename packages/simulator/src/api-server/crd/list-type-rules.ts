import type { FieldError } from '../schema/field-error.ts'
import type { Schema } from '../schema/schema.ts'
import { supportedValues } from '../schema/value-rules.ts'

/** What the keywords for lists and maps that are merged field by field demand of the schema around them. */
export function listTypeErrors(schema: Schema, field: string): FieldError[] {
  return [...mapTypeErrors(schema, field), ...listErrors(schema, field)]
}

function mapTypeErrors(schema: Schema, field: string): FieldError[] {
  const mapType = schema['x-kubernetes-map-type']
  if (mapType === undefined) return []
  const errors: FieldError[] = []
  if (schema.type !== 'object') {
    errors.push(typeError(schema, `${field}.type`, 'must be object if x-kubernetes-map-type is specified'))
  }
  if (mapType !== 'atomic' && mapType !== 'granular') {
    const detail = supportedValues(['atomic', 'granular'])
    errors.push({ kind: 'NotSupported', field: `${field}.x-kubernetes-map-type`, value: mapType, detail })
  }
  return errors
}

function listErrors(schema: Schema, field: string): FieldError[] {
  const errors: FieldError[] = []
  const listType = schema['x-kubernetes-list-type']
  const keys = schema['x-kubernetes-list-map-keys']
  if (listType !== undefined) {
    if (schema.type !== 'array') {
      errors.push(typeError(schema, `${field}.type`, 'must be array if x-kubernetes-list-type is specified'))
    }
    if (!['atomic', 'set', 'map'].includes(listType)) {
      const detail = supportedValues(['atomic', 'set', 'map'])
      errors.push({ kind: 'NotSupported', field: `${field}.x-kubernetes-list-type`, value: listType, detail })
    }
    if (listType !== 'atomic' && schema.items?.nullable === true) {
      const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`
      errors.push({ kind: 'Forbidden', field: `${field}.items.nullable`, detail })
    }
  }
  if ((keys ?? []).length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    errors.push(
      listType === undefined
        ? { kind: 'Required', field: `${field}.x-kubernetes-list-type`, detail }
        : { kind: 'Invalid', field: `${field}.x-kubernetes-list-type`, value: listType, detail },
    )
  }
  return listType === 'map' ? [...errors, ...keyErrors(schema, keys ?? [], field)] : errors
}

const scalars = new Set(['string', 'integer', 'number', 'boolean'])

function keyErrors({ items }: Schema, keys: readonly string[], field: string): FieldError[] {
  const keysField = `${field}.x-kubernetes-list-map-keys`
  if (keys.length === 0) {
    return [{ kind: 'Required', field: keysField, detail: 'must not be empty if x-kubernetes-list-type is map' }]
  }
  if (items === undefined) {
    const detail = 'must have a schema if x-kubernetes-list-type is map'
    return [{ kind: 'Required', field: `${field}.items`, detail }]
  }
  const errors: FieldError[] = []
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map"
    errors.push({ kind: 'Invalid', field: `${field}.items.type`, value: items.type ?? '', detail })
  }
  if (new Set(keys).size < keys.length) {
    errors.push({ kind: 'Invalid', field: keysField, value: keys, detail: 'must not contain duplicate entries' })
  }
  for (const key of keys) {
    const property = items.properties?.[key]
    const place = `${field}.items.properties[${key}]`
    if (property === undefined) {
      errors.push({
        kind: 'Invalid',
        field: keysField,
        value: keys,
        detail: 'entries must all be names of item properties',
      })
      continue
    }
    if (!scalars.has(property.type ?? '')) {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
      errors.push({ kind: 'Invalid', field: `${place}.type`, value: property.type ?? '', detail })
    }
    if (property.default === undefined && !(items.required ?? []).includes(key)) {
      const detail =
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property'
      errors.push({ kind: 'Required', field: `${place}.default`, detail })
    }
    if (property.nullable === true) {
      const detail = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'
      errors.push({ kind: 'Forbidden', field: `${place}.nullable`, detail })
    }
  }
  return errors
}

function typeError({ type }: Schema, field: string, detail: string): FieldError {
  return type === undefined ? { kind: 'Required', field, detail } : { kind: 'Invalid', field, value: type, detail }
}
