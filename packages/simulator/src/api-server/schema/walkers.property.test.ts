import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyDefaults } from './defaults.ts'
import { pruneUnknown } from './prune.ts'
import type { Schema } from './schema.ts'
import { validateBySchema } from './validate.ts'

const names = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor')

const schemas = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ type: fc.constantFrom('string', 'boolean') } as const),
    fc.record({ type: fc.constant('integer' as const), default: fc.integer({ min: 0, max: 9 }) }),
    fc.record({ 'x-kubernetes-int-or-string': fc.constant(true) }),
    fc.record({ type: fc.constant('array' as const), items: tie('schema') }),
    fc.record({ type: fc.constant('object' as const), additionalProperties: tie('schema') }),
    fc.record(
      {
        type: fc.constant('object' as const),
        properties: fc.dictionary(names, tie('schema'), { maxKeys: 3 }),
        'x-kubernetes-preserve-unknown-fields': fc.constant(true),
      },
      { requiredKeys: ['type', 'properties'] },
    ),
  ),
})).schema

const values = fc.jsonValue({ maxDepth: 4 }).chain(
  (leaf) =>
    fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constant(leaf),
        fc.constantFrom(null, 0, 1.5, 'text', true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(names, tie('value'), { maxKeys: 4 }),
      ),
    })).value,
)

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) deepFreeze(inner)
  }
  return value
}

const prune = <T>(value: T, schema: Schema) => pruneUnknown(value, schema, { isRoot: false, onUnknown: () => {} })

describe('walkers over any schema and any value', () => {
  it('pruning never changes what it is given, and pruning again changes nothing', () => {
    fc.assert(
      fc.property(schemas, values, (schema, value) => {
        const pruned = prune(deepFreeze(value), schema)
        expect(prune(pruned, schema)).toBe(pruned)
      }),
    )
  })

  it('defaulting never changes what it is given, and defaulting again changes nothing', () => {
    fc.assert(
      fc.property(schemas, values, (schema, value) => {
        const completed = applyDefaults(deepFreeze(value), schema)
        expect(applyDefaults(completed, schema)).toBe(completed)
      }),
    )
  })

  it('validation always ends with a verdict, and an unchanged value is never refused', () => {
    fc.assert(
      fc.property(schemas, values, (schema, value) => {
        expect(Array.isArray(validateBySchema(value, schema, { isRoot: false }))).toBe(true)
        const copy: unknown = JSON.parse(JSON.stringify(value))
        expect(validateBySchema(copy, schema, { isRoot: false, previous: value })).toEqual([])
      }),
    )
  })

  it('nothing a hostile object carries reaches the prototype of all objects', () => {
    fc.assert(
      fc.property(schemas, values, (schema, value) => {
        applyDefaults(prune(value, schema), schema)
        expect(Object.keys(Object.prototype)).toEqual([])
      }),
    )
  })
})
