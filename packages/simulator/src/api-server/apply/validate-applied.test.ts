import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { describe, expect, it } from 'vitest'
import { builtinSchema } from '../builtin/schemas.ts'
import type { Schema } from '../schema/schema.ts'
import { deepFreeze } from '../store/deep-freeze.ts'
import { serverSideApply } from './server-side-apply.ts'

interface Refusal {
  readonly code: number
  readonly reason?: string
  readonly message?: string
}

const schema = builtinSchema('apps/v1', 'Deployment') as Schema

function deployment(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'shop', ...metadata }, spec }
}

function containers(...items: JsonObject[]): JsonObject {
  return { template: { spec: { containers: items } } }
}

const refused: Record<string, { readonly applied: JsonObject; readonly then: Refusal }> = {
  'a configuration without a kind': {
    applied: { apiVersion: 'apps/v1', metadata: { name: 'web' } },
    then: { code: 400, reason: 'BadRequest', message: 'invalid object type: apps/v1, Kind=' },
  },
  'a configuration without a version': {
    applied: { kind: 'Deployment', metadata: { name: 'web' } },
    then: { code: 400, reason: 'BadRequest', message: 'invalid object type: /, Kind=Deployment' },
  },
  'a configuration of another version': {
    applied: { apiVersion: 'v1', kind: 'Deployment', metadata: { name: 'web' } },
    then: { code: 400, reason: 'BadRequest', message: 'invalid object type: /v1, Kind=Deployment' },
  },
  'a configuration that says who owns what': {
    applied: deployment({}, { managedFields: [] }),
    then: { code: 400, reason: 'BadRequest', message: 'metadata.managedFields must be nil' },
  },
  'a configuration with two items of one name': {
    applied: deployment(containers({ name: 'a' }, { name: 'a' })),
    then: {
      code: 500,
      message:
        'failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.template.spec.containers: duplicate entries for key [name="a"]',
    },
  },
  'a configuration with a field that does not exist': {
    applied: deployment({ replica: 2 }),
    then: {
      code: 500,
      message:
        'failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema',
    },
  },
  'a configuration with values of the wrong type': {
    applied: deployment({ replicas: 'two', paused: 'yes', selector: [] }, { labels: { a: 1 } }),
    then: {
      code: 500,
      message: [
        'failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): errors:',
        '  .metadata.labels.a: expected string, got &value.valueUnstructured{Value:1}',
        '  .spec.replicas: expected numeric (int or float), got string',
        '  .spec.paused: expected boolean, got &{yes}',
        '  .spec.selector: expected map, got &{[]}',
      ].join('\n'),
    },
  },
  'a configuration with an item that cannot be named': {
    applied: deployment(containers(null as never)),
    then: {
      code: 500,
      message:
        'failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.template.spec.containers: element 0: associative list with keys may not have a null element',
    },
  },
}

describe('what cannot be applied', () => {
  for (const [subject, { applied, then }] of Object.entries(refused)) {
    it(`${subject} is refused with ${then.code}`, () => {
      expect(refusalOf(deepFreeze(applied))).toEqual(then)
    })
  }
})

function refusalOf(applied: JsonObject): Refusal {
  const time = '2024-05-01T12:00:00Z'
  try {
    serverSideApply({ live: undefined, applied, schema, manager: 'git', force: true, apiVersion: 'apps/v1', time })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, reason, message } = error
    return reason === '' ? { code, message } : { code, reason, message }
  }
  return { code: 200 }
}
