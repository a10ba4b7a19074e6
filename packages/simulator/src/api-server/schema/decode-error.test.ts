import { describe, expect, it } from 'vitest'
import { builtinSchema } from '../builtin/schemas.ts'
import { decodeErrorOf } from './decode-error.ts'
import type { Schema } from './schema.ts'

const deployment = builtinSchema('apps/v1', 'Deployment') as Schema
const type = { group: 'apps', version: 'v1', kind: 'Deployment' }
const opening = 'Deployment in version "v1" cannot be handled as a Deployment: '

const cases: Record<string, { given: object; then: string | undefined }> = {
  'a text for a number is refused with the field': {
    given: { spec: { replicas: 'three' } },
    then: 'json: cannot unmarshal string into Go struct field spec.replicas of type int32',
  },
  'a number out of range is refused with the number': {
    given: { spec: { replicas: 3_000_000_000 } },
    then: 'json: cannot unmarshal number 3000000000 into Go struct field spec.replicas of type int32',
  },
  'an object for a list is refused': {
    given: { spec: { template: { spec: { containers: {} } } } },
    then: 'json: cannot unmarshal object into Go struct field spec.template.spec.containers of type slice',
  },
  'a label that is a number is refused': {
    given: { metadata: { labels: { a: 1 } } },
    then: 'json: cannot unmarshal number into Go struct field metadata.labels.a of type string',
  },
  'a quantity that is none is refused': {
    given: { spec: { template: { spec: { containers: [{ name: 'a', resources: { limits: { cpu: 'lots' } } }] } } } },
    then: `spec.template.spec.containers[0].resources.limits.cpu: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
  },
  'a fraction where a count or a percentage belongs is refused': {
    given: { spec: { strategy: { rollingUpdate: { maxSurge: 1.5 } } } },
    then: 'json: cannot unmarshal number 1.5 into Go struct field spec.strategy.rollingUpdate.maxSurge of type int32',
  },
  'a time that cannot be read is refused': {
    given: { metadata: { creationTimestamp: 'yesterday' } },
    then: 'metadata.creationTimestamp: parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse it',
  },
  'null is the empty value of everything': {
    given: { metadata: { creationTimestamp: null }, spec: null },
    then: undefined,
  },
  'what fits is let through': {
    given: { metadata: { name: 'a' }, spec: { replicas: 3, strategy: { rollingUpdate: { maxSurge: '25%' } } } },
    then: undefined,
  },
}

describe('decodeErrorOf', () => {
  for (const [sentence, { given, then }] of Object.entries(cases)) {
    it(sentence, () => {
      const error = decodeErrorOf(given, deployment, type)
      expect(error && { code: error.code, reason: error.reason, message: error.message }).toEqual(
        then === undefined ? undefined : { code: 400, reason: 'BadRequest', message: `${opening}${then}` },
      )
    })
  }

  const lease = builtinSchema('coordination.k8s.io/v1', 'Lease') as Schema
  const renewals: Record<string, { renewTime: string; isRead: boolean }> = {
    'a Lease renewed in whole seconds is refused, as a client that writes so would be on a real server': {
      renewTime: '2026-01-01T00:00:00Z',
      isRead: false,
    },
    'a Lease renewed in milliseconds is refused': { renewTime: '2026-01-01T00:00:00.123Z', isRead: false },
    'a Lease renewed in microseconds is read': { renewTime: '2026-01-01T00:00:00.123456Z', isRead: true },
  }
  for (const [sentence, { renewTime, isRead }] of Object.entries(renewals)) {
    it(sentence, () => {
      const leaseType = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' }
      expect(decodeErrorOf({ spec: { renewTime } }, lease, leaseType)?.message).toBe(
        isRead
          ? undefined
          : `Lease in version "v1" cannot be handled as a Lease: spec.renewTime: parsing time "${renewTime}" as "2006-01-02T15:04:05.000000Z07:00": cannot parse it`,
      )
    })
  }

  it('of a custom resource only the metadata is typed; the rest is for its schema to judge', () => {
    const schema: Schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { n: { type: 'integer' } } } },
    }
    expect(decodeErrorOf({ metadata: { name: 'a' }, spec: { n: 'x' } }, schema, type)).toBeUndefined()
    expect(decodeErrorOf({ metadata: { name: 7 } }, schema, type)?.code).toBe(400)
  })
})
