import { isJsonObject, type Json } from '@cofferdam/kubernetes/api/json.ts'
import type { Patch } from '@cofferdam/kubernetes/client/kube-api.ts'
import { badRequest } from '../registry/api-errors.ts'
import type { ResourceDefinition } from '../resource-definition.ts'
import { mediaTypeOf, parseJson, parseYaml, unsupportedMediaType } from './body.ts'
import type { Exchange } from './exchange.ts'
import { invalidOptions, isTrue } from './request-options.ts'

const patchTypes: Readonly<Record<string, Patch['type']>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
}

/** The content types a PATCH of this resource may have: strategic merges need the knowledge that built-in kinds carry. */
export function patchTypesOf({ origin }: Pick<ResourceDefinition, 'origin'>): readonly string[] {
  return Object.keys(patchTypes).filter((type) => origin === 'builtin' || patchTypes[type] !== 'strategic')
}

export function parsePatch(exchange: Exchange, definition: ResourceDefinition, text: string): Patch {
  const given = mediaTypeOf(exchange)
  const supported = patchTypesOf(definition)
  const type = patchTypes[given]
  if (type === undefined || !supported.includes(given)) throw unsupportedMediaType(given, supported)
  const force = exchange.query.get('force')
  if (force !== null && type !== 'apply') {
    const detail = 'may not be specified for non-apply patch'
    throw invalidOptions('PatchOptions', [{ kind: 'Forbidden', field: 'force', detail }])
  }
  if (type === 'json') {
    // Whether it is a list is asked once the object is found: an absent one answers 404 whatever was sent.
    return { type, body: parseJson(text) as readonly Json[] }
  }
  const body = type === 'apply' && !text.trimStart().startsWith('{') ? parseYaml(text) : parseJson(text)
  if (!isJsonObject(body)) throw badRequest(`a patch of type ${given} must be an object`)
  return type === 'apply' ? { type, body, ...(isTrue(force) ? { force: true } : {}) } : { type, body }
}
