import { describe, expect, it } from 'vitest'
import { builtinSchema } from '../builtin/schemas.ts'
import { pruneUnknown } from './prune.ts'
import type { Schema } from './schema.ts'

const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        free: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { known: { type: 'object' } },
        },
        labels: { type: 'object', additionalProperties: { type: 'object', properties: { a: { type: 'string' } } } },
        anything: { type: 'object', additionalProperties: true },
        port: { 'x-kubernetes-int-or-string': true },
        items: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
        template: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          properties: { spec: { type: 'object', properties: { x: { type: 'string' } } } },
        },
      },
    },
  },
}

const cases: Record<string, { given: object; then: object; dropped: string[] }> = {
  'an unknown field is dropped wherever it is, and its path is told': {
    given: { spec: { size: 1, color: 'red', items: [{ name: 'a' }, { name: 'b', age: 3 }] }, extra: {} },
    then: { spec: { size: 1, items: [{ name: 'a' }, { name: 'b' }] } },
    dropped: ['spec.color', 'spec.items[1].age', 'extra'],
  },
  'apiVersion, kind and metadata of the root stay although the schema does not name them': {
    given: { apiVersion: 'v1', kind: 'X', metadata: { name: 'x', labels: { a: 'b' } } },
    then: { apiVersion: 'v1', kind: 'X', metadata: { name: 'x', labels: { a: 'b' } } },
    dropped: [],
  },
  'metadata keeps only what all objects have': {
    given: { metadata: { name: 'x', colour: 'red' } },
    then: { metadata: { name: 'x' } },
    dropped: ['metadata.colour'],
  },
  'preserved places keep the unknown but prune what they do know': {
    given: { spec: { free: { any: { thing: 1 }, known: { lost: 1 } } } },
    then: { spec: { free: { any: { thing: 1 }, known: {} } } },
    dropped: ['spec.free.known.lost'],
  },
  'maps keep every key and prune every value': {
    given: { spec: { labels: { one: { a: '1', b: '2' }, two: {} } } },
    then: { spec: { labels: { one: { a: '1' }, two: {} } } },
    dropped: ['spec.labels.one.b'],
  },
  'additionalProperties: true keeps everything': {
    given: { spec: { anything: { deep: { down: [1, { x: 1 }] } } } },
    then: { spec: { anything: { deep: { down: [1, { x: 1 }] } } } },
    dropped: [],
  },
  'an embedded resource has apiVersion, kind and metadata too': {
    given: {
      spec: { template: { apiVersion: 'v1', kind: 'Y', metadata: { name: 'y' }, spec: { x: '1', y: 2 }, z: 1 } },
    },
    then: { spec: { template: { apiVersion: 'v1', kind: 'Y', metadata: { name: 'y' }, spec: { x: '1' } } } },
    dropped: ['spec.template.spec.y', 'spec.template.z'],
  },
  'a value that is int or string is left alone': {
    given: { spec: { port: 'http' } },
    then: { spec: { port: 'http' } },
    dropped: [],
  },
  'fields named like parts of every JavaScript object are unknown like any other': {
    given: JSON.parse('{"spec":{"__proto__":{"polluted":true},"constructor":1,"size":2}}') as object,
    then: { spec: { size: 2 } },
    dropped: ['spec.__proto__', 'spec.constructor'],
  },
}

describe('pruneUnknown', () => {
  for (const [sentence, { given, then, dropped }] of Object.entries(cases)) {
    it(sentence, () => {
      const paths: string[] = []
      const pruned = pruneUnknown(given, schema, { isRoot: true, onUnknown: (path) => paths.push(path) })
      expect(pruned).toEqual(then)
      expect(paths).toEqual(dropped)
      if (dropped.length === 0) expect(pruned).toBe(given)
    })
  }

  it('what did not change keeps its reference, so that later comparisons are cheap', () => {
    const items = [{ name: 'a' }]
    const given = { spec: { items, lost: 1 } }
    const pruned = pruneUnknown(given, schema, { isRoot: true, onUnknown: () => {} })
    expect(pruned.spec.items).toBe(items)
  })

  it('a map of a built-in kind may have a key called __proto__, which stays a plain key', () => {
    const configMap = builtinSchema('v1', 'ConfigMap') as Schema
    const given = JSON.parse('{"data":{"__proto__":"x","a":"b"},"lost":1}') as { data: object }
    const pruned = pruneUnknown(given, configMap, { isRoot: true, onUnknown: () => {} })
    expect(Object.keys(pruned.data)).toEqual(['__proto__', 'a'])
  })

  it('raw JSON inside built-in kinds is kept whole', () => {
    const revision = builtinSchema('apps/v1', 'ControllerRevision') as Schema
    const given = { data: { spec: { template: { $patch: 'replace' } } }, revision: 1 }
    expect(pruneUnknown(given, revision, { isRoot: true, onUnknown: () => {} })).toBe(given)
  })
})
