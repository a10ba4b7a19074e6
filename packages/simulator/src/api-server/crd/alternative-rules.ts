import type { FieldError } from '../schema/field-error.ts'
import type { Schema } from '../schema/schema.ts'

const structureWords = {
  type: 'empty',
  additionalProperties: 'undefined',
  default: 'undefined',
  title: 'empty',
  description: 'empty',
  nullable: 'false',
  'x-kubernetes-preserve-unknown-fields': 'false',
  'x-kubernetes-embedded-resource': 'false',
  'x-kubernetes-int-or-string': 'false',
  'x-kubernetes-list-map-keys': 'empty',
  'x-kubernetes-list-type': 'undefined',
  'x-kubernetes-map-type': 'undefined',
  'x-kubernetes-validations': 'empty',
} as const

/**
 * What is wrong with the `allOf`, `anyOf`, `oneOf` and `not` of `schema`. They may speak only of values, and only of
 * fields that `whole` declares: what the object is made of is said once, outside of them.
 */
export function alternativeErrors(schema: Schema, whole: Schema, field: string): FieldError[] {
  const errors: FieldError[] = []
  for (const word of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [index, part] of (schema[word] ?? []).entries()) {
      errors.push(...partErrors(part, { field: `${field}.${word}[${index}]`, whole, wholeField: field }))
    }
  }
  if (schema.not !== undefined) {
    errors.push(...partErrors(schema.not, { field: `${field}.not`, whole, wholeField: field }))
  }
  return errors
}

interface Place {
  readonly field: string
  /** The declaration of the same place, and where that stands. */
  readonly whole: Schema
  readonly wholeField: string
}

function partErrors(part: Schema, { field, whole, wholeField }: Place): FieldError[] {
  const errors: FieldError[] = []
  const namesType = whole['x-kubernetes-int-or-string'] === true && (part.type === 'integer' || part.type === 'string')
  for (const [word, must] of Object.entries(structureWords)) {
    if (part[word as keyof typeof structureWords] === undefined || (word === 'type' && namesType)) continue
    errors.push({ kind: 'Forbidden', field: `${field}.${word}`, detail: `must be ${must} to be structural` })
  }
  for (const [name, property] of Object.entries(part.properties ?? {})) {
    const declared = whole.properties?.[name] ?? inner(whole.additionalProperties)
    const place = { field: `${field}.properties[${name}]`, wholeField: `${wholeField}.properties[${name}]` }
    if (declared === undefined) {
      errors.push({ kind: 'Required', field: place.wholeField, detail: `because it is defined in ${place.field}` })
    }
    errors.push(...partErrors(property, { ...place, whole: declared ?? {} }))
  }
  if (part.items !== undefined) {
    const place = { field: `${field}.items`, wholeField: `${wholeField}.items` }
    errors.push(...partErrors(part.items, { ...place, whole: whole.items ?? {} }))
  }
  return [...errors, ...alternativeErrors(part, whole, field)]
}

function inner(additional: Schema['additionalProperties']): Schema | undefined {
  return typeof additional === 'object' ? additional : undefined
}
