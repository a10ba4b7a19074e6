import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { resourcePath } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { ResourceDefinition } from '../resource-definition.ts'
import { kindOf } from './openapi-schema.ts'
import { patchTypesOf } from './patch-body.ts'
import { verbsOf } from './served-verbs.ts'

export type Operation = 'get' | 'put' | 'post' | 'delete' | 'patch'

export interface DescribedOperation {
  readonly method: Operation
  readonly action: string
  readonly parameters: readonly string[]
  readonly consumes: readonly string[]
  readonly kind: JsonObject
}

export interface DescribedPath {
  readonly path: string
  readonly operations: readonly DescribedOperation[]
}

const writeParameters = ['pretty', 'dryRun', 'fieldManager', 'fieldValidation']
const bodyTypes = ['application/json', 'application/yaml']

/**
 * The paths of one resource. kubectl reads them to learn what a server can do: without `fieldValidation` among the
 * parameters of PATCH it validates on its own, without `dryRun` it refuses to dry-run.
 */
export function describePaths(definition: ResourceDefinition): readonly DescribedPath[] {
  const { type } = definition
  const root = resourcePath({ ...type, namespaced: false })
  const collection = type.namespaced ? root.replace(/\/([^/]+)$/, '/namespaces/{namespace}/$1') : root
  const describe = (method: Operation, action: string, parameters: readonly string[], consumes: readonly string[]) => ({
    method,
    action,
    parameters,
    consumes,
    kind: kindOf(definition),
  })
  const post = describe('post', 'post', writeParameters, bodyTypes)
  if (!verbsOf(definition).includes('get')) return [{ path: collection, operations: [post] }]
  return [
    {
      path: collection,
      operations: [describe('get', 'list', ['labelSelector', 'fieldSelector', 'limit', 'continue', 'watch'], []), post],
    },
    {
      path: `${collection}/{name}`,
      operations: [
        describe('get', 'get', ['pretty'], []),
        describe('put', 'put', writeParameters, bodyTypes),
        describe('patch', 'patch', [...writeParameters, 'force'], patchTypesOf(definition)),
        describe('delete', 'delete', ['dryRun', 'gracePeriodSeconds', 'propagationPolicy'], []),
      ],
    },
  ]
}
