import { createHash } from 'node:crypto'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { ServedGroup } from './discovery.ts'
import { type DescribedOperation, describePaths } from './openapi-paths.ts'
import { definitionName, schemasFor } from './openapi-schema.ts'
import type { ServerVersion } from './served-api.ts'

const prefix = '#/components/schemas/'

/** The documents by the path below `/openapi/v3/`: `api/v1`, `apis/apps/v1`. */
export function openapiV3Documents(
  groups: readonly ServedGroup[],
  version: ServerVersion,
): ReadonlyMap<string, string> {
  const documents = new Map<string, string>()
  for (const { group, versions } of groups) {
    for (const served of versions) {
      const path = group === '' ? `api/${served.version}` : `apis/${group}/${served.version}`
      documents.set(path, JSON.stringify(documentOf(served.resources, version)))
    }
  }
  return documents
}

/** The hash in each address changes with the document, so that clients may keep one for ever. */
export function openapiV3Index(documents: ReadonlyMap<string, string>): JsonObject {
  const paths = [...documents].map(([path, text]) => {
    const hash = createHash('sha256').update(text).digest('hex').toUpperCase()
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]
  })
  return { paths: Object.fromEntries(paths) as JsonObject }
}

function documentOf(resources: ServedGroup['versions'][number]['resources'], version: ServerVersion): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const definition of resources) {
    const name = definitionName(definition)
    for (const { path, operations } of describePaths(definition)) {
      const entries = operations.map((operation) => [operation.method, operationOf(operation, name)])
      const scope = ['namespace', 'name'].filter((parameter) => path.includes(`{${parameter}}`))
      paths[path] = { ...Object.fromEntries(entries), parameters: scope.map(pathParameter) } as JsonObject
    }
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: version.gitVersion },
    paths,
    components: { schemas: schemasFor(resources, prefix) },
  }
}

function operationOf({ method, action, parameters, consumes, kind }: DescribedOperation, name: string): JsonObject {
  const schema = { $ref: `${prefix}${name}` }
  const content = Object.fromEntries(
    consumes.map((type) => [type, { schema: method === 'patch' ? { type: 'object' } : schema }]),
  )
  return {
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': kind,
    parameters: parameters.map((parameter) => ({ name: parameter, in: 'query', schema: { type: 'string' } })),
    ...(consumes.length === 0 ? {} : { requestBody: { required: true, content } }),
    responses: { '200': { description: 'OK', content: { 'application/json': { schema } } } },
  }
}

function pathParameter(name: string): JsonObject {
  return { name, in: 'path', required: true, schema: { type: 'string' } }
}
