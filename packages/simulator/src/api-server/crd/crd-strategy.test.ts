import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { describe, expect, it } from 'vitest'
import { invalidObject } from '../schema/field-error.ts'
import type { Schema } from '../schema/schema.ts'
import { crdStrategy } from './crd-strategy.ts'
import type { CustomResourceDefinition } from './custom-resource-definition.ts'

function crdWith(spec: JsonObject | object = {}, metadata: object = {}): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'drains.cofferdam.io', ...metadata },
    spec: {
      group: 'cofferdam.io',
      scope: 'Namespaced',
      names: { plural: 'drains', kind: 'Drain' },
      versions: [versionWith({ type: 'object' })],
      ...spec,
    },
  }
}

function versionWith(openAPIV3Schema: Schema, more: object = {}) {
  return { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, ...more }
}

/** A definition whose schema has one property `x`. */
function crdWithProperty(x: unknown): CustomResourceDefinition {
  return crdWith({ versions: [versionWith({ type: 'object', properties: { x: x as Schema } })] })
}

const at = 'spec.versions[0].schema.openAPIV3Schema.properties[x]'

const cases: Record<string, { given: CustomResourceDefinition; then: string[] }> = {
  'a plain definition is accepted': { given: crdWith(), then: [] },
  'the name must be made of plural and group': {
    given: crdWith({}, { name: 'drain.cofferdam.io' }),
    then: ['metadata.name: Invalid value: "drain.cofferdam.io": must be spec.names.plural+"."+spec.group'],
  },
  'a group is a domain': {
    given: crdWith({ group: 'cofferdam' }, { name: 'drains.cofferdam' }),
    then: ['spec.group: Invalid value: "cofferdam": should be a domain with at least one dot'],
  },
  'there must be a version': {
    given: crdWith({ versions: [] }),
    then: ['spec.versions: Required value: must have at least one version'],
  },
  'a version must have a schema': {
    given: crdWith({ versions: [{ name: 'v1', served: true, storage: true }] }),
    then: ['spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required'],
  },
  'an object field must have a type': {
    given: crdWithProperty({ description: 'what is it?' }),
    then: [`${at}.type: Required value: must not be empty for specified object fields`],
  },
  'int-or-string and free-form fields need no type': {
    given: crdWithProperty({
      type: 'object',
      properties: {
        port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        free: { 'x-kubernetes-preserve-unknown-fields': true },
      },
    }),
    then: [],
  },
  'the root is an object': {
    given: crdWith({ versions: [versionWith({ type: 'string' })] }),
    then: ['spec.versions[0].schema.openAPIV3Schema.type: Invalid value: "string": must be object at the root'],
  },
  'of metadata only the name may be restricted': {
    given: crdWith({
      versions: [
        versionWith({
          type: 'object',
          properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
        }),
      ],
    }),
    then: [
      'spec.versions[0].schema.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
  },
  'references are not supported': {
    given: crdWithProperty({ type: 'object', $ref: '#/x' }),
    then: [`${at}.$ref: Forbidden: $ref is not supported`],
  },
  'an array says what its items are': {
    given: crdWithProperty({ type: 'array' }),
    then: [`${at}.items: Required value: must be specified`],
  },
  'a list keyed like a map needs keys that are always there': {
    given: crdWithProperty({
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', properties: { name: { type: 'string' } } },
    }),
    then: [
      `${at}.items.properties[name].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
    ],
  },
  'a list keyed like a map needs keys': {
    given: crdWithProperty({ type: 'array', 'x-kubernetes-list-type': 'map', items: { type: 'object' } }),
    then: [`${at}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`],
  },
  'alternatives may only speak of values': {
    given: crdWithProperty({ type: 'string', anyOf: [{ type: 'string', minLength: 1 }] }),
    then: [`${at}.anyOf[0].type: Forbidden: must be empty to be structural`],
  },
  'alternatives may only name fields that are declared': {
    given: crdWithProperty({ type: 'object', anyOf: [{ properties: { y: { minLength: 1 } } }] }),
    then: [`${at}.properties[y]: Required value: because it is defined in ${at}.anyOf[0].properties[y]`],
  },
  'a default must be a value of its own schema': {
    given: crdWithProperty({ type: 'integer', default: 'one' }),
    then: [`${at}.default: Invalid value: "string": ${at}.default in body must be of type integer: "string"`],
  },
  'uniqueItems is refused': {
    given: crdWithProperty({ type: 'array', items: { type: 'string' }, uniqueItems: true }),
    then: [
      `${at}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
    ],
  },
  'a rule that cannot be compiled makes the definition invalid, naming the rule': {
    given: crdWithProperty({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'self >' }] }),
    then: [
      `${at}.x-kubernetes-validations[0].rule: Invalid value: {"rule":"self >"}: compilation failed: Unexpected token: EOF`,
    ],
  },
  'a column must have a path that can be read': {
    given: crdWith({
      versions: [
        versionWith(
          { type: 'object' },
          { additionalPrinterColumns: [{ name: 'A', type: 'colour', jsonPath: 'spec.a' }] },
        ),
      ],
    }),
    then: [
      'spec.versions[0].additionalPrinterColumns[0].type: Invalid value: "colour": must be one of boolean,date,integer,number,string',
      'spec.versions[0].additionalPrinterColumns[0].jsonPath: Invalid value: "spec.a": must be a simple json path starting with .',
    ],
  },
  'scale paths stay in their own part of the object': {
    given: crdWith({
      versions: [
        versionWith(
          { type: 'object' },
          { subresources: { scale: { specReplicasPath: '.status.n', statusReplicasPath: '.status.n' } } },
        ),
      ],
    }),
    then: [
      'spec.versions[0].subresources.scale.specReplicasPath: Invalid value: ".status.n": should be a json path under .spec',
    ],
  },
}

function linesOf(crd: CustomResourceDefinition, previous?: CustomResourceDefinition): string[] {
  const prepared = crdStrategy.prepare?.(crd, previous) ?? crd
  const errors = crdStrategy.validate?.(prepared, previous) ?? []
  return errors.map((error) =>
    invalidObject({ group: '', kind: 'X', name: 'x' }, [error]).message.replace(/^.*?is invalid: /, ''),
  )
}

describe('CustomResourceDefinitions', () => {
  for (const [sentence, { given, then }] of Object.entries(cases)) {
    it(sentence, () => {
      expect(linesOf(given)).toEqual(then)
    })
  }

  it('exactly one version is the one that is stored', () => {
    const two = ['v1', 'v2'].map((name) => versionWith({ type: 'object' }, { name }))
    expect(linesOf(crdWith({ versions: two }))[0]).toMatch(/must have exactly one version marked as storage version$/)
  })

  it('names that were left out follow from the kind, and the stored version is noted', () => {
    const prepared = crdStrategy.prepare?.(crdWith(), undefined) as CustomResourceDefinition
    expect([prepared.spec.names, prepared.spec.conversion, prepared.status]).toEqual([
      { plural: 'drains', kind: 'Drain', singular: 'drain', listKind: 'DrainList' },
      { strategy: 'None' },
      { storedVersions: ['v1'] },
    ])
  })

  it('once established, scope and kind stay as they are', () => {
    const established: CustomResourceDefinition = {
      ...(crdStrategy.prepare?.(crdWith(), undefined) as CustomResourceDefinition),
      status: { conditions: [{ type: 'Established', status: 'True' }], storedVersions: ['v1'] },
    }
    const next = crdWith({ scope: 'Cluster', names: { plural: 'drains', kind: 'Sink' } })
    expect(linesOf({ ...next, ...(established.status && { status: established.status }) }, established)).toEqual([
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Sink": field is immutable',
    ])
  })

  it('a version in which objects are stored cannot be taken away', () => {
    const before = crdStrategy.prepare?.(crdWith(), undefined) as CustomResourceDefinition
    const next = crdWith({ versions: [versionWith({ type: 'object' }, { name: 'v2' })] })
    expect(linesOf(next, before)[0]).toMatch(
      /^status\.storedVersions\[0\]: Invalid value: "v1": missing from spec\.versions/,
    )
  })
})
