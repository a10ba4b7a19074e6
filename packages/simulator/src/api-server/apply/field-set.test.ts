import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { describe, expect, it } from 'vitest'
import { builtinSchema } from '../builtin/schemas.ts'
import type { Schema } from '../schema/schema.ts'
import { fieldPlanOf } from './field-plan.ts'
import { difference, intersection, isSameFieldSet, parseFieldSet, pathsOf, union } from './field-set.ts'
import { fieldsOfObject } from './fields-of-object.ts'

const pod = builtinSchema('v1', 'Pod') as Schema

function fieldsOf(object: JsonObject, schema: Schema = pod) {
  return fieldsOfObject(object, fieldPlanOf(schema))
}

describe('the fields of a configuration', () => {
  it('name list items by their keys, sorted, with the defaults of keys that are left out', () => {
    const spec = {
      containers: [{ name: 'a', ports: [{ containerPort: 443 }, { protocol: 'UDP', containerPort: 53 }] }],
    }
    expect([...pathsOf(fieldsOf({ spec }))]).toEqual([
      '.spec.containers[name="a"]',
      '.spec.containers[name="a"].name',
      '.spec.containers[name="a"].ports[containerPort=53,protocol="UDP"]',
      '.spec.containers[name="a"].ports[containerPort=443,protocol="TCP"]',
      '.spec.containers[name="a"].ports[containerPort=53,protocol="UDP"].containerPort',
      '.spec.containers[name="a"].ports[containerPort=53,protocol="UDP"].protocol',
      '.spec.containers[name="a"].ports[containerPort=443,protocol="TCP"].containerPort',
    ])
  })

  it('take atomic maps and lists as one, and sets value by value', () => {
    const object = {
      metadata: { finalizers: ['b/2', 'a/1'], ownerReferences: [{ uid: 'u', name: 'n' }] },
      spec: { nodeSelector: { disk: 'ssd' }, tolerations: [{ key: 'x' }], securityContext: {} },
    }
    expect(fieldsOf(object)).toEqual({
      'f:metadata': {
        'f:finalizers': { 'v:"a/1"': {}, 'v:"b/2"': {} },
        'f:ownerReferences': { 'k:{"uid":"u"}': {} },
      },
      'f:spec': { 'f:nodeSelector': {}, 'f:securityContext': {}, 'f:tolerations': {} },
    })
  })

  it('leave out what the server sets itself', () => {
    const metadata = {
      name: 'a',
      namespace: 'b',
      uid: 'c',
      resourceVersion: '1',
      creationTimestamp: null,
      generation: 1,
    }
    expect(fieldsOf({ apiVersion: 'v1', kind: 'Pod', metadata })).toBeUndefined()
  })

  it('own untyped content field by field, and its containers too', () => {
    const schema: Schema = {
      type: 'object',
      properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    }
    expect(fieldsOf({ spec: { values: { replicas: 1, tags: ['a'] } } }, schema)).toEqual({
      'f:spec': { 'f:values': { '.': {}, 'f:replicas': {}, 'f:tags': {} } },
    })
  })

  it('are one frozen object for objects of one shape, in whatever order their fields come', () => {
    const first = fieldsOf({ spec: { nodeName: 'a', containers: [{ name: 'c', image: 'x' }] } })
    const second = fieldsOf({ spec: { containers: [{ image: 'y', name: 'c' }], nodeName: 'b' } })
    expect(second).toBe(first)
    expect(Object.isFrozen(first)).toBe(true)
    expect(JSON.stringify(first)).toBe(
      '{"f:spec":{"f:containers":{"k:{\\"name\\":\\"c\\"}":{".":{},"f:image":{},"f:name":{}}},"f:nodeName":{}}}',
    )
  })
})

describe('sets of fields', () => {
  const labels = parseFieldSet({ 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {}, 'f:b': {} } } })
  const other = parseFieldSet({ 'f:metadata': { 'f:labels': { 'f:b': {}, 'f:c': {} } }, 'f:spec': {} })

  it('are united member by member', () => {
    expect(union(labels, other)).toEqual({
      'f:metadata': { 'f:labels': { '.': {}, 'f:a': {}, 'f:b': {}, 'f:c': {} } },
      'f:spec': {},
    })
  })

  it('keep the place of a container when only what is in it goes', () => {
    const contents = parseFieldSet({ 'f:metadata': { 'f:labels': { 'f:a': {}, 'f:b': {} } } })
    expect(difference(labels, contents)).toEqual({ 'f:metadata': { 'f:labels': {} } })
  })

  it('keep what is in a container when only its place goes', () => {
    const place = parseFieldSet({ 'f:metadata': { 'f:labels': {} } })
    expect(difference(labels, place)).toEqual({ 'f:metadata': { 'f:labels': { 'f:a': {}, 'f:b': {} } } })
  })

  it('have in common what both own', () => {
    expect(intersection(labels, other)).toEqual({ 'f:metadata': { 'f:labels': { 'f:b': {} } } })
    expect(intersection(labels, parseFieldSet({ 'f:metadata': {} }))).toBeUndefined()
  })

  it('come back as they are when an operation changes nothing', () => {
    const part = parseFieldSet({ 'f:metadata': { 'f:labels': { 'f:a': {} } } })
    expect(union(labels, part)).toBe(labels)
    expect(difference(labels, parseFieldSet({ 'f:status': {} }))).toBe(labels)
    expect(difference(labels, labels)).toBeUndefined()
  })

  it('are read in whatever spelling a client chooses', () => {
    const sent = { 'f:spec': { 'f:ports': { 'k:{ "protocol": "TCP", "port": 80 }': {}, 'v:"x" ': {} } } }
    const canonical = { 'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': {}, 'v:"x"': {} } } }
    expect(parseFieldSet(sent)).toEqual(canonical)
    expect(isSameFieldSet(parseFieldSet(sent), parseFieldSet(canonical))).toBe(true)
  })

  it('drop elements of a notation from the future, and refuse what is no notation at all', () => {
    expect(parseFieldSet({ 'f:a': {}, 'q:whatever': {} })).toEqual({ 'f:a': {} })
    expect(() => parseFieldSet({ spec: {} })).toThrow(SyntaxError)
    expect(() => parseFieldSet({ 'k:{broken': {} })).toThrow(SyntaxError)
    expect(() => parseFieldSet({ 'f:a': 'x' })).toThrow(SyntaxError)
  })
})
