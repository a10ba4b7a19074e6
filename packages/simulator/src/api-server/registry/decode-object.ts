import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { decodeErrorOf } from '../schema/decode-error.ts'
import { applyDefaults } from '../schema/defaults.ts'
import { pruneUnknown } from '../schema/prune.ts'
import { badRequest } from './api-errors.ts'
import type { WriteRequest } from './registry.ts'
import { servedVersion } from './served-version.ts'

/** Reads what was sent into the form of its kind: fields of the right types, unknown ones dropped, defaults filled in. */
export function decodeObject(request: WriteRequest, sent: KubeObject, previous?: KubeObject): KubeObject {
  requireKind(request, sent)
  const { schema, type } = request.definition
  const undecodable = decodeErrorOf(sent, schema, type, previous)
  if (undecodable !== undefined) throw undecodable
  return applyDefaults(dropUnknownFields(request, sent, previous), schema, previous)
}

/**
 * Drops what the schema does not know, and warns or refuses as the writer asked.
 *
 * @throws ApiError 400 when the writer asked for strictness
 */
function dropUnknownFields<T>(request: WriteRequest, sent: T, previous?: unknown): T {
  const unknown: string[] = []
  const { schema } = request.definition
  const kept = pruneUnknown(sent, schema, { isRoot: true, onUnknown: (path) => unknown.push(path), previous })
  if (unknown.length === 0 || request.fieldValidation === 'Ignore') return kept
  const problems = unknown.map((path) => `unknown field ${JSON.stringify(path)}`)
  if (request.fieldValidation === 'Strict') {
    throw badRequest(`strict decoding error: ${problems.join(', ')}`)
  }
  for (const problem of problems) request.onWarning?.(problem)
  return kept
}

function requireKind({ definition }: WriteRequest, sent: KubeObject): void {
  const { kind, version } = definition.type
  const apiVersion = servedVersion(definition)
  if (!isJsonObject(sent))
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: not an object`)
  if (sent.apiVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${sent.apiVersion}) does not match the expected API version (${apiVersion})`,
    )
  }
  if (sent.kind !== kind) throw badRequest(`${sent.kind} in version "${version}" cannot be handled as a ${kind}`)
  if (!isJsonObject(sent.metadata)) {
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: metadata must be an object`)
  }
}
