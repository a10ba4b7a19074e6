import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { Schema } from '../schema/schema.ts'
import { goTypeName, goValueText } from './go-value-text.ts'
import { type JsonDraft, ownField, setOwnField } from './own-field.ts'
import { unclassifiedFailure } from './patch-failure.ts'

export const patchDirective = '$patch'
export const retainKeysDirective = '$retainKeys'
export const deleteFromListPrefix = '$deleteFromPrimitiveList'
export const setElementOrderPrefix = '$setElementOrder'

const badFormats = {
  [retainKeysDirective]: 'invalid patch format of retainKeys',
  [deleteFromListPrefix]: 'invalid patch format of primitive list',
  [setElementOrderPrefix]: 'invalid patch format of setElementOrder list',
} as const

export function badFormat(directive: keyof typeof badFormats): ApiError {
  return new ApiError('BadRequest', badFormats[directive])
}

/** The list a directive such as `$setElementOrder/containers` speaks of. */
export function listNamedBy(
  directive: string,
  prefix: typeof deleteFromListPrefix | typeof setElementOrderPrefix,
): string {
  if (!directive.startsWith(`${prefix}/`)) throw badFormat(prefix)
  return directive.slice(prefix.length + 1)
}

/** How the schema wants one field patched. A kind that says nothing merges maps and replaces lists. */
export interface PatchRule {
  readonly schema: Schema | undefined
  readonly strategy: 'merge' | 'replace' | undefined
  readonly mergeKey: string | undefined
}

export function patchRuleOf(parent: Schema | undefined, name: string): PatchRule {
  const properties = parent?.properties
  const named = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
  const schema = named ?? (typeof parent?.additionalProperties === 'object' ? parent.additionalProperties : undefined)
  const strategies = schema?.['x-kubernetes-patch-strategy']?.split(',') ?? []
  return {
    schema,
    strategy: strategies.includes('merge') ? 'merge' : strategies.includes('replace') ? 'replace' : undefined,
    mergeKey: schema?.['x-kubernetes-patch-merge-key'],
  }
}

/** A value that is new to the object: entries that carry directives vanish, and so do fields set to null. */
export function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map(withoutDirectives).filter((item) => item !== undefined)
  }
  if (!isJsonObject(value)) return value
  return Object.hasOwn(value, patchDirective) ? undefined : fieldsWithoutDirectives(value)
}

export function fieldsWithoutDirectives(value: JsonObject): JsonObject {
  const kept: JsonDraft = {}
  for (const name of Object.keys(value)) {
    const field = ownField(value, name)
    if (field === null || field === undefined || isDirective(name)) continue
    const clean = withoutDirectives(field)
    if (clean !== undefined) setOwnField(kept, name, clean)
  }
  return kept
}

function isDirective(name: string): boolean {
  return (
    name === patchDirective ||
    name === retainKeysDirective ||
    name.startsWith(deleteFromListPrefix) ||
    name.startsWith(setElementOrderPrefix)
  )
}

export function listOf(value: Json | undefined): readonly Json[] {
  if (Array.isArray(value)) return value as readonly Json[]
  throw unclassifiedFailure(`expected a []interface {}, but received a ${goTypeName(value)}`)
}

export function mapOf(value: Json | undefined): JsonObject {
  if (isJsonObject(value)) return value
  throw unclassifiedFailure(`expected a map[string]interface {}, but received a ${goTypeName(value)}`)
}

export function mergeKeyOf(item: Json, mergeKey: string): Json {
  const map = mapOf(item)
  const value = ownField(map, mergeKey)
  if (value === undefined) {
    throw unclassifiedFailure(`map: ${goValueText(map)} does not contain declared merge key: ${mergeKey}`)
  }
  return value
}
