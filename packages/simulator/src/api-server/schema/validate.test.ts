import { describe, expect, it } from 'vitest'
import { invalidObject } from './field-error.ts'
import type { Schema } from './schema.ts'
import { validateBySchema } from './validate.ts'

/** The schema of `spec.x`, the value there, and the lines the real server would answer with. */
const cases: Record<string, { x: Schema; value: unknown; then: string[] }> = {
  'a text where a whole number belongs is refused, naming both types': {
    x: { type: 'integer' },
    value: 'three',
    then: ['spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"'],
  },
  'a fraction is no whole number': {
    x: { type: 'integer' },
    value: 1.5,
    then: ['spec.x: Invalid value: "number": spec.x in body must be of type integer: "number"'],
  },
  'a whole number is a number': { x: { type: 'number' }, value: 3, then: [] },
  'null is refused unless it is allowed': {
    x: { type: 'string' },
    value: null,
    then: ['spec.x: Invalid value: "null": spec.x in body must be of type string: "null"'],
  },
  'null is a value of what is nullable, and no other rule applies to it': {
    x: { type: 'string', nullable: true, minLength: 3 },
    value: null,
    then: [],
  },
  'a required field that is absent is named': {
    x: { type: 'object', required: ['a', 'b'], properties: { a: { type: 'string' }, b: { type: 'string' } } },
    value: { b: '' },
    then: ['spec.x.a: Required value'],
  },
  'a word outside the closed list is refused with the list': {
    x: { type: 'string', enum: ['Fast', 'Safe'] },
    value: 'Slow',
    then: ['spec.x: Unsupported value: "Slow": supported values: "Fast", "Safe"'],
  },
  'a number below the minimum is refused': {
    x: { type: 'integer', minimum: 1 },
    value: 0,
    then: ['spec.x: Invalid value: 0: spec.x in body should be greater than or equal to 1'],
  },
  'an exclusive bound excludes itself': {
    x: { type: 'number', maximum: 1, exclusiveMaximum: true },
    value: 1,
    then: ['spec.x: Invalid value: 1: spec.x in body should be less than 1'],
  },
  'a number that is no multiple is refused': {
    x: { type: 'number', multipleOf: 0.1 },
    value: 0.25,
    then: ['spec.x: Invalid value: 0.25: spec.x in body should be a multiple of 0.1'],
  },
  'int32 has its limits': {
    x: { type: 'integer', format: 'int32' },
    value: 2 ** 31,
    then: ['spec.x: Invalid value: 2147483648: spec.x in body must be of type integer with format int32'],
  },
  'a text that is too long is not repeated': {
    x: { type: 'string', maxLength: 3 },
    value: 'abcd',
    then: ['spec.x: Too long: may not be more than 3 bytes'],
  },
  'length counts characters, not code units': { x: { type: 'string', maxLength: 2 }, value: '😀😀', then: [] },
  'a text that is too short is refused': {
    x: { type: 'string', minLength: 2 },
    value: '',
    then: ['spec.x: Invalid value: "": spec.x in body should be at least 2 chars long'],
  },
  'a pattern may match anywhere, as in the real server': {
    x: { type: 'string', pattern: 'b+' },
    value: 'abbc',
    then: [],
  },
  'a text that does not match is refused with the pattern': {
    x: { type: 'string', pattern: '^(?i)a+$' },
    value: 'b',
    then: [`spec.x: Invalid value: "b": spec.x in body should match '^(?i)a+$'`],
  },
  'a date that does not exist is no date-time': {
    x: { type: 'string', format: 'date-time' },
    value: '2024-02-30T00:00:00Z',
    then: [
      'spec.x: Invalid value: "2024-02-30T00:00:00Z": spec.x in body must be of type date-time: "2024-02-30T00:00:00Z"',
    ],
  },
  'a duration with two units is one': { x: { type: 'string', format: 'duration' }, value: '1h30m', then: [] },
  'an address outside the range is no ipv4': {
    x: { type: 'string', format: 'ipv4' },
    value: '10.0.0.256',
    then: ['spec.x: Invalid value: "10.0.0.256": spec.x in body must be of type ipv4: "10.0.0.256"'],
  },
  'a format nobody knows holds for everything': { x: { type: 'string', format: 'colour' }, value: 'red', then: [] },
  'too many items are counted': {
    x: { type: 'array', maxItems: 1, items: { type: 'integer' } },
    value: [1, 2],
    then: ['spec.x: Too many: 2: must have at most 1 item'],
  },
  'every wrong item is named by its place': {
    x: { type: 'array', items: { type: 'integer' } },
    value: [1, 'two', true],
    then: [
      'spec.x[1]: Invalid value: "string": spec.x[1] in body must be of type integer: "string"',
      'spec.x[2]: Invalid value: "boolean": spec.x[2] in body must be of type integer: "boolean"',
    ],
  },
  'a set holds each value once': {
    x: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    value: ['a', 'b', 'a'],
    then: ['spec.x[2]: Duplicate value: "a"'],
  },
  'a list keyed like a map holds each key once': {
    x: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', properties: { name: { type: 'string' }, v: { type: 'integer' } } },
    },
    value: [
      { name: 'a', v: 1 },
      { name: 'a', v: 2 },
    ],
    then: ['spec.x[1]: Duplicate value: {"name":"a"}'],
  },
  'values of a map are named by their key': {
    x: { type: 'object', additionalProperties: { type: 'integer' } },
    value: { a: 1, b: '2' },
    then: ['spec.x.b: Invalid value: "string": spec.x.b in body must be of type integer: "string"'],
  },
  'int-or-string takes both': { x: { 'x-kubernetes-int-or-string': true }, value: '50%', then: [] },
  'int-or-string takes nothing else': {
    x: { 'x-kubernetes-int-or-string': true },
    value: true,
    then: ['spec.x: Invalid value: "boolean": spec.x in body must be of type integer,string: "boolean"'],
  },
  'exactly one of two fields: neither is refused': {
    x: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    value: {},
    then: [
      'spec.x.a: Required value',
      '<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found none valid',
    ],
  },
  'exactly one of two fields: both are refused': {
    x: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    value: { a: '', b: '' },
    then: [
      '<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
  },
  'one of several alternatives is enough': {
    x: { type: 'integer', anyOf: [{ minimum: 10 }, { maximum: 1 }] },
    value: 0,
    then: [],
  },
  'what must not be is refused': {
    x: { type: 'string', not: { enum: ['no'] } },
    value: 'no',
    then: ['<nil>: Invalid value: "": "spec.x" must not validate the schema (not)'],
  },
  'all parts must hold': {
    x: { type: 'string', allOf: [{ minLength: 2 }, { pattern: '^a' }] },
    value: 'ba',
    then: [
      'spec.x: Invalid value: "ba": spec.x in body should match \'^a\'',
      '<nil>: Invalid value: "": "spec.x" must validate all the schemas (allOf)',
    ],
  },
}

function schemaOf(x: Schema): Schema {
  return { type: 'object', properties: { spec: { type: 'object', properties: { x } } } }
}

function linesOf(errors: ReturnType<typeof validateBySchema>): string[] {
  return errors.map((error) =>
    invalidObject({ group: '', kind: 'X', name: 'x' }, [error]).message.replace(/^.*is invalid: /, ''),
  )
}

describe('validateBySchema', () => {
  for (const [sentence, { x, value, then }] of Object.entries(cases)) {
    it(sentence, () => {
      expect(linesOf(validateBySchema({ spec: { x: value } }, schemaOf(x)))).toEqual(then)
    })
  }

  it('what was wrong before and did not change is not held against the writer', () => {
    const schema = schemaOf({
      type: 'object',
      properties: { old: { type: 'integer', minimum: 1 }, new: { type: 'integer', minimum: 1 } },
    })
    const previous = { spec: { x: { old: 0 } } }
    expect(linesOf(validateBySchema({ spec: { x: { old: 0, new: 0 } } }, schema, { previous }))).toEqual([
      'spec.x.new: Invalid value: 0: spec.x.new in body should be greater than or equal to 1',
    ])
  })

  it('an item of a keyed list is compared with its own past, wherever it stood', () => {
    const schema = schemaOf({
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', properties: { name: { type: 'string' }, v: { type: 'integer', minimum: 1 } } },
    })
    const previous = { spec: { x: [{ name: 'a', v: 0 }] } }
    expect(
      linesOf(
        validateBySchema(
          {
            spec: {
              x: [
                { name: 'b', v: 0 },
                { name: 'a', v: 0 },
              ],
            },
          },
          schema,
          { previous },
        ),
      ),
    ).toEqual(['spec.x[0].v: Invalid value: 0: spec.x[0].v in body should be greater than or equal to 1'])
  })

  it('a custom resource may restrict its own name', () => {
    const schema: Schema = {
      type: 'object',
      properties: { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 3 } } } },
    }
    expect(linesOf(validateBySchema({ metadata: { name: 'long' } }, schema))).toEqual([
      'metadata.name: Too long: may not be more than 3 bytes',
    ])
  })
})
