import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { ServedGroup } from './discovery.ts'
import { type DescribedOperation, describePaths } from './openapi-paths.ts'
import { schemasFor } from './openapi-schema.ts'
import type { ServerVersion } from './served-api.ts'

/** The one document that kubectl before 1.25 reads, for validation and for what PATCH supports. */
export function openapiV2Document(groups: readonly ServedGroup[], version: ServerVersion): JsonObject {
  const resources = groups.flatMap(({ versions }) => versions.flatMap((served) => served.resources))
  const described = resources.flatMap((definition) => describePaths(definition))
  const schemas = Object.entries(schemasFor(resources, '#/definitions/'))
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: version.gitVersion },
    paths: Object.fromEntries(
      described.map(({ path, operations }) => [
        path,
        Object.fromEntries(operations.map((operation) => [operation.method, operationOf(operation)])),
      ]),
    ),
    definitions: Object.fromEntries(schemas.map(([name, schema]) => [name, inVersion2(schema)])) as JsonObject,
  }
}

function operationOf({ action, consumes, parameters, kind }: DescribedOperation): JsonObject {
  return {
    consumes,
    parameters: parameters.map((name) => ({ name, in: 'query', type: 'string' })),
    responses: { '200': { description: 'OK' } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': kind,
  }
}

const unknownToVersion2 = new Set(['oneOf', 'anyOf', 'not', 'nullable'])

/** Version 2 cannot say "one of": an integer or a string is a string with a format there. */
function inVersion2(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(inVersion2)
  if (!isJsonObject(schema)) return schema
  const isChoice = schema['oneOf'] !== undefined || schema['x-kubernetes-int-or-string'] === true
  const kept = Object.entries(schema)
    .filter(([key]) => !unknownToVersion2.has(key))
    .map(([key, value]) => [key, value === undefined ? undefined : inVersion2(value)])
  return { ...Object.fromEntries(kept), ...(isChoice && schema['type'] === undefined ? { type: 'string' } : {}) }
}
