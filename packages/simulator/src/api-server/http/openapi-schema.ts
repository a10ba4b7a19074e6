import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { builtinDefinitionName, builtinDefinitions } from '../builtin/schemas.ts'
import type { ResourceDefinition } from '../resource-definition.ts'

const metadataName = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

/** The name under which documents describe a kind: `io.k8s.api.apps.v1.Deployment`, `io.cofferdam.v1.DrainLock`. */
export function definitionName({ type, origin }: ResourceDefinition): string {
  const builtin = origin === 'builtin' ? builtinDefinitionName(apiVersionOf(type), type.kind) : undefined
  return builtin ?? [...type.group.split('.').reverse(), type.version, type.kind].join('.')
}

/** The schemas of the kinds given and of all they refer to, by name; references carry `prefix`. */
export function schemasFor(definitions: readonly ResourceDefinition[], prefix: string): Record<string, JsonObject> {
  const published = builtinDefinitions() as unknown as Readonly<Record<string, JsonObject>>
  const schemas: Record<string, JsonObject> = {}
  const waiting: string[] = []
  const visit = (name: string) => {
    if (name in schemas || published[name] === undefined) return
    schemas[name] = withPrefixedReferences(published[name], prefix, waiting) as JsonObject
  }
  for (const definition of definitions) {
    const name = definitionName(definition)
    if (definition.origin === 'builtin') visit(name)
    else schemas[name] = customSchema(definition, prefix, waiting)
    if (schemas[name]) schemas[name] = { ...schemas[name], 'x-kubernetes-group-version-kind': [kindOf(definition)] }
  }
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) visit(name)
  return schemas
}

export function kindOf({ type: { group, version, kind } }: ResourceDefinition): JsonObject {
  return { group, version, kind }
}

function customSchema({ schema }: ResourceDefinition, prefix: string, waiting: string[]): JsonObject {
  waiting.push(metadataName)
  const own = JSON.parse(JSON.stringify(schema)) as JsonObject
  const properties = isJsonObject(own['properties']) ? own['properties'] : {}
  return {
    ...own,
    properties: {
      ...properties,
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { $ref: `${prefix}${metadataName}` },
    },
  }
}

function withPrefixedReferences(schema: Json, prefix: string, waiting: string[]): Json {
  if (Array.isArray(schema)) return schema.map((item: Json) => withPrefixedReferences(item, prefix, waiting))
  if (!isJsonObject(schema)) return schema
  const entries = Object.entries(schema).map(([key, value]): [string, Json | undefined] => {
    if (key !== '$ref' || typeof value !== 'string') {
      return [key, value === undefined ? undefined : withPrefixedReferences(value, prefix, waiting)]
    }
    waiting.push(value)
    return [key, `${prefix}${value}`]
  })
  return Object.fromEntries(entries)
}
