import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { apiVersionOf, type ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import { badRequest } from '../registry/api-errors.ts'
import type { ResourceDefinition } from '../resource-definition.ts'
import { pruneUnknown } from '../schema/prune.ts'
import type { ResourcePath } from './resource-path.ts'
import { subresourcesOf } from './served-verbs.ts'

/**
 * The object of a body, completed by what the path says: built-in kinds may leave out what they are, and everything
 * may leave out its namespace.
 */
export function sentObject(
  definition: ResourceDefinition,
  path: ResourcePath,
  body: JsonObject,
  onUnknown: (field: string) => void,
): KubeObject {
  const expected = subresourcesOf(definition).find(({ name }) => name === path.subresource) ?? definition.type
  if (definition.origin === 'custom' && typeof body['kind'] !== 'string') {
    throw badRequest(`Object 'Kind' is missing in '${JSON.stringify(body).slice(0, 120)}'`)
  }
  const metadata = body['metadata'] ?? {}
  if (!isJsonObject(metadata)) throw badRequest('metadata must be an object')
  const { namespace } = metadata
  if (path.namespace !== undefined && namespace && namespace !== path.namespace) {
    // The real server has read the object before it finds that out.
    pruneUnknown(body, definition.schema, { isRoot: true, onUnknown })
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  const completed = {
    ...body,
    apiVersion: body['apiVersion'] ?? apiVersionOf(expected),
    kind: body['kind'] ?? expected.kind,
    metadata: path.namespace === undefined ? withoutNamespace(metadata) : { ...metadata, namespace: path.namespace },
  }
  return completed as unknown as KubeObject
}

/** What lies in no namespace says so, whatever was sent. */
function withoutNamespace(metadata: JsonObject): JsonObject {
  if (metadata['namespace'] === undefined) return metadata
  const { namespace: _, ...rest } = metadata
  return rest
}

/** @throws ApiError 400 when the body is about another object than the path */
export function requireSameKey({ metadata }: KubeObject, key: ObjectKey): void {
  if (!metadata.name) {
    throw badRequest(`the name of the object (${key.name} based on URL) was undeterminable: name must be provided`)
  }
  if (metadata.name !== key.name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${key.name})`)
  }
}
