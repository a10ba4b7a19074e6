import { celProblem } from '../schema/cel-environment.ts'
import { compiledRulesOf } from '../schema/cel-rules.ts'
import type { FieldError } from '../schema/field-error.ts'
import type { Schema } from '../schema/schema.ts'
import { validateBySchema } from '../schema/validate.ts'
import { compiledPattern, supportedValues } from '../schema/value-rules.ts'
import { alternativeErrors } from './alternative-rules.ts'
import { listTypeErrors } from './list-type-rules.ts'

/** Everything that keeps a schema from being structural, so that the server could not prune or default by it. */
export function structuralSchemaErrors(schema: Schema, field: string): FieldError[] {
  if (typeof schema !== 'object' || schema === null || faultless.has(schema)) return []
  const errors = [...rootErrors(schema, field), ...nodeErrors(schema, { field, position: 'root' })]
  if (errors.length === 0 && Object.isFrozen(schema)) faultless.add(schema)
  return errors
}

/** Frozen, and so without a fault for good; a process that builds many clusters installs the same definitions in each. */
const faultless = new WeakSet<Schema>()

type Position = 'root' | 'property' | 'items' | 'additional'

interface Place {
  readonly field: string
  readonly position: Position
}

function rootErrors(schema: Schema, field: string): FieldError[] {
  const errors: FieldError[] = []
  if (schema.nullable === true) {
    errors.push({ kind: 'Forbidden', field: `${field}.nullable`, detail: 'nullable cannot be true at the root' })
  }
  if (schema.type !== undefined && schema.type !== 'object') {
    errors.push({ kind: 'Invalid', field: `${field}.type`, value: schema.type, detail: 'must be object at the root' })
  }
  if (schema.additionalProperties !== undefined) {
    errors.push({ kind: 'Forbidden', field: `${field}.additionalProperties`, detail: 'must not be used at the root' })
  }
  const metadata = schema.properties?.['metadata']
  if (metadata !== undefined) errors.push(...metadataErrors(metadata, `${field}.properties[metadata]`))
  return errors
}

function metadataErrors(metadata: Schema, field: string): FieldError[] {
  const errors: FieldError[] = []
  if (metadata.type !== undefined && metadata.type !== 'object') {
    errors.push({ kind: 'Invalid', field: `${field}.type`, value: metadata.type, detail: 'must be object' })
  }
  const named = Object.keys(metadata.properties ?? {})
  if (named.some((name) => name !== 'name' && name !== 'generateName')) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified'
    errors.push({ kind: 'Forbidden', field, detail })
  }
  return errors
}

const types = new Set(['array', 'boolean', 'integer', 'number', 'object', 'string'])
const missingType: Readonly<Record<Position, string>> = {
  root: 'must not be empty at the root',
  property: 'must not be empty for specified object fields',
  items: 'must not be empty for specified array items',
  additional: 'must not be empty for specified object fields',
}

function nodeErrors(schema: Schema, place: Place): FieldError[] {
  const { field, position } = place
  const errors: FieldError[] = []
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  if (schema.type === undefined) {
    const mayLackType =
      (isIntOrString || schema['x-kubernetes-preserve-unknown-fields'] === true) && position !== 'root'
    if (isEmbedded) errors.push(required(`${field}.type`, 'must be object if x-kubernetes-embedded-resource is true'))
    else if (!mayLackType) errors.push(required(`${field}.type`, missingType[position]))
  } else if (!types.has(schema.type)) {
    errors.push({
      kind: 'NotSupported',
      field: `${field}.type`,
      value: schema.type,
      detail: supportedValues([...types]),
    })
  } else if (isEmbedded && schema.type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push({ kind: 'Invalid', field: `${field}.type`, value: schema.type, detail })
  }
  errors.push(...forbiddenWords(schema, field), ...valueErrors(schema, field, place), ...listTypeErrors(schema, field))
  errors.push(
    ...alternativeErrors(schema, schema, field),
    ...childErrors(schema, place),
    ...ruleErrors(schema, field, position),
  )
  return errors
}

const unsupported = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref']

function forbiddenWords(schema: Schema, field: string): FieldError[] {
  const errors: FieldError[] = unsupported
    .filter((word) => Object.hasOwn(schema, word))
    .map((word) => ({ kind: 'Forbidden', field: `${field}.${word}`, detail: `${word} is not supported` }))
  if (schema.uniqueItems === true) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    errors.push({ kind: 'Forbidden', field: `${field}.uniqueItems`, detail })
  }
  if (schema.additionalProperties !== undefined && schema.properties !== undefined) {
    const detail = 'additionalProperties and properties are mutual exclusive'
    errors.push({ kind: 'Forbidden', field: `${field}.additionalProperties`, detail })
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    const name = `${field}.x-kubernetes-preserve-unknown-fields`
    errors.push({ kind: 'Invalid', field: name, value: false, detail: 'must be true or undefined' })
  }
  return errors
}

function valueErrors(schema: Schema, field: string, place: Place): FieldError[] {
  const errors: FieldError[] = []
  if (schema.pattern !== undefined) {
    try {
      compiledPattern(schema.pattern)
    } catch (error) {
      const detail = `must be a valid regular expression, but isn't: ${celProblem(error)}`
      errors.push({ kind: 'Invalid', field: `${field}.pattern`, value: schema.pattern, detail })
    }
  }
  if (schema.type === 'array' && schema.items === undefined)
    errors.push(required(`${field}.items`, 'must be specified'))
  if (Array.isArray(schema.items)) {
    const detail = 'items must be a schema object and not an array'
    errors.push({ kind: 'Forbidden', field: `${field}.items`, detail })
  }
  if (schema.default !== undefined && place.position !== 'root') {
    for (const error of validateBySchema(schema.default, schema, { isRoot: false })) {
      const place = error.field === '' ? `${field}.default` : `${field}.default.${error.field}`
      errors.push({ ...error, field: place, detail: error.detail.replace(/^\S* in body/, `${place} in body`) })
    }
  }
  return errors
}

function childErrors(schema: Schema, { field }: Place): FieldError[] {
  const errors: FieldError[] = []
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    errors.push(...nodeErrors(property, { field: `${field}.properties[${name}]`, position: 'property' }))
  }
  if (typeof schema.additionalProperties === 'object') {
    const place: Place = { field: `${field}.additionalProperties`, position: 'additional' }
    errors.push(...nodeErrors(schema.additionalProperties, place))
  }
  if (schema.items !== undefined && !Array.isArray(schema.items)) {
    errors.push(...nodeErrors(schema.items, { field: `${field}.items`, position: 'items' }))
  }
  return errors
}

const reasons = ['FieldValueRequired', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueDuplicate']

function ruleErrors(schema: Schema, field: string, position: Position): FieldError[] {
  const declared = schema['x-kubernetes-validations']
  if (declared === undefined) return []
  const errors: FieldError[] = []
  const compiled = compiledRulesOf(schema, position === 'root')
  for (const [index, rule] of declared.entries()) {
    const at = `${field}.x-kubernetes-validations[${index}]`
    if (!rule.rule?.trim()) {
      errors.push(required(`${at}.rule`, 'rule is not specified'))
      continue
    }
    if (rule.message !== undefined && rule.message.trim() === '') {
      errors.push({
        kind: 'Invalid',
        field: `${at}.message`,
        value: rule.message,
        detail: 'must be non-empty if specified',
      })
    }
    if (rule.rule.trim().includes('\n') && !rule.message && !rule.messageExpression) {
      errors.push(required(`${at}.message`, 'message must be specified if rule contains line breaks'))
    }
    if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
      errors.push({ kind: 'NotSupported', field: `${at}.reason`, value: rule.reason, detail: supportedValues(reasons) })
    }
    const { problem, messageProblem, usesOldSelf } = compiled[index] as (typeof compiled)[number]
    if (problem !== undefined) errors.push({ kind: 'Invalid', field: `${at}.rule`, value: rule, detail: problem })
    if (messageProblem !== undefined) {
      errors.push({ kind: 'Invalid', field: `${at}.messageExpression`, value: rule, detail: messageProblem })
    }
    if (problem === undefined && rule.optionalOldSelf === true && !usesOldSelf) {
      const detail = 'may not be set if oldSelf is not used in rule'
      errors.push({ kind: 'Invalid', field: `${at}.optionalOldSelf`, value: true, detail })
    }
  }
  return errors
}

function required(field: string, detail: string): FieldError {
  return { kind: 'Required', field, detail }
}
