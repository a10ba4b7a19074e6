import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Json, JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { describe, expect, it } from 'vitest'
import { deepFreeze } from '../store/deep-freeze.ts'
import { applyJsonPatch } from './json-patch.ts'

interface Case {
  readonly given: JsonObject
  readonly patch: readonly Json[]
  readonly then: JsonObject
}

const accepted: Record<string, Case> = {
  'a field is added to an object': {
    given: { a: 1 },
    patch: [{ op: 'add', path: '/b', value: 2 }],
    then: { a: 1, b: 2 },
  },
  'adding a field that exists replaces it': {
    given: { a: 1 },
    patch: [{ op: 'add', path: '/a', value: [2] }],
    then: { a: [2] },
  },
  'an item is inserted before the index': {
    given: { a: ['x', 'z'] },
    patch: [{ op: 'add', path: '/a/1', value: 'y' }],
    then: { a: ['x', 'y', 'z'] },
  },
  'a dash appends to a list, and so does the index behind its end': {
    given: { a: ['x'] },
    patch: [
      { op: 'add', path: '/a/-', value: 'y' },
      { op: 'add', path: '/a/2', value: 'z' },
    ],
    then: { a: ['x', 'y', 'z'] },
  },
  'an item is removed and the rest moves up': {
    given: { a: ['x', 'y', 'z'] },
    patch: [{ op: 'remove', path: '/a/1' }],
    then: { a: ['x', 'z'] },
  },
  'a null is a value that can be replaced': {
    given: { a: null },
    patch: [{ op: 'replace', path: '/a', value: 1 }],
    then: { a: 1 },
  },
  'a move takes the value away from where it was': {
    given: { a: { b: 1 }, c: {} },
    patch: [{ op: 'move', from: '/a/b', path: '/c/d' }],
    then: { a: {}, c: { d: 1 } },
  },
  'a move onto itself changes nothing': {
    given: { a: 1 },
    patch: [{ op: 'move', from: '/a', path: '/a' }],
    then: { a: 1 },
  },
  'a copy is independent of what it was copied from': {
    given: { a: { n: 1 } },
    patch: [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'replace', path: '/b/n', value: 2 },
    ],
    then: { a: { n: 1 }, b: { n: 2 } },
  },
  'a copy of what this patch has changed is independent, too: else a label would show up among the annotations': {
    given: { labels: { n: 1 } },
    patch: [
      { op: 'replace', path: '/labels/n', value: 5 },
      { op: 'copy', from: '/labels', path: '/annotations' },
      { op: 'replace', path: '/annotations/n', value: 2 },
      { op: 'add', path: '/labels/m', value: 3 },
    ],
    then: { labels: { n: 5, m: 3 }, annotations: { n: 2 } },
  },
  'a copy from a missing field is null, as on the real server': {
    given: { a: {} },
    patch: [{ op: 'copy', from: '/a/b', path: '/a/c' }],
    then: { a: { c: null } },
  },
  'a value that was added can be changed by a later operation without changing the patch': {
    given: {},
    patch: [
      { op: 'add', path: '/a', value: { n: [] } },
      { op: 'add', path: '/a/n/-', value: 1 },
    ],
    then: { a: { n: [1] } },
  },
  'escaped slashes and tildes name one field': {
    given: { 'a/b': { 'c~d': 1 } },
    patch: [{ op: 'replace', path: '/a~1b/c~0d', value: 2 }],
    then: { 'a/b': { 'c~d': 2 } },
  },
  'the escape of an escape is decoded once': {
    given: { '~1': 1 },
    patch: [{ op: 'remove', path: '/~01' }],
    then: {},
  },
  'a field with an empty name can be reached': {
    given: { '': 1 },
    patch: [{ op: 'replace', path: '/', value: 2 }],
    then: { '': 2 },
  },
  'a test compares whole values whatever the order of fields': {
    given: { a: { x: 1, y: [1, 2] } },
    patch: [
      { op: 'test', path: '/a', value: { y: [1, 2], x: 1 } },
      { op: 'remove', path: '/a' },
    ],
    then: {},
  },
  'a test for null passes where the field is not set': {
    given: { metadata: {} },
    patch: [
      { op: 'test', path: '/metadata/owner', value: null },
      { op: 'add', path: '/metadata/owner', value: 'me' },
    ],
    then: { metadata: { owner: 'me' } },
  },
  'a field that is not there is replaced all the same, as the real server does it': {
    given: { a: {} },
    patch: [{ op: 'replace', path: '/a/b', value: 1 }],
    then: { a: { b: 1 } },
  },
  'the whole object can be replaced': {
    given: { a: 1 },
    patch: [{ op: 'replace', path: '', value: { b: 2 } }],
    then: { b: 2 },
  },
  'fields the operation does not know are ignored': {
    given: {},
    patch: [{ op: 'add', path: '/a', value: 1, comment: 'x' }],
    then: { a: 1 },
  },
  'a field may be called like something every object inherits': {
    given: { data: {} },
    patch: [{ op: 'add', path: '/data/constructor', value: 'x' }],
    then: { data: { constructor: 'x' } },
  },
}

const rejected: Record<string, { given: JsonObject; patch: readonly Json[] }> = {
  'a test for another value fails': { given: { a: 1 }, patch: [{ op: 'test', path: '/a', value: '1' }] },
  'a test below a missing field fails': { given: {}, patch: [{ op: 'test', path: '/a/b', value: null }] },
  'a removal of a missing field fails': { given: {}, patch: [{ op: 'remove', path: '/a' }] },
  'a removal of an inherited name fails': { given: {}, patch: [{ op: 'remove', path: '/toString' }] },
  'a replacement of a missing item fails': { given: { a: [] }, patch: [{ op: 'replace', path: '/a/0', value: 1 }] },
  'an addition below a missing field fails': { given: {}, patch: [{ op: 'add', path: '/a/b', value: 1 }] },
  'an addition below a scalar fails': { given: { a: 1 }, patch: [{ op: 'add', path: '/a/b', value: 1 }] },
  'an addition behind the end of a list fails': { given: { a: [] }, patch: [{ op: 'add', path: '/a/1', value: 1 }] },
  'an addition at an empty index fails': { given: { a: [] }, patch: [{ op: 'add', path: '/a/', value: 1 }] },
  'an addition at a word in a list fails': { given: { a: [] }, patch: [{ op: 'add', path: '/a/x', value: 1 }] },
  'an index with a leading zero fails': { given: { a: [1, 2] }, patch: [{ op: 'remove', path: '/a/01' }] },
  'a move into its own child fails': { given: { a: { b: 1 } }, patch: [{ op: 'move', from: '/a', path: '/a/b' }] },
  'a copy from a missing field of nothing fails': { given: {}, patch: [{ op: 'copy', from: '/a/b', path: '/b' }] },
  'a copy from a missing item fails': { given: { a: [] }, patch: [{ op: 'copy', from: '/a/0', path: '/b' }] },
  'a copy without a source fails': { given: {}, patch: [{ op: 'copy', path: '/b' }] },
  'a path without a leading slash fails': { given: { a: 1 }, patch: [{ op: 'remove', path: 'a' }] },
  'an operation without a path fails': { given: { a: 1 }, patch: [{ op: 'remove' }] },
  'an unknown operation fails': { given: { a: 1 }, patch: [{ op: 'rename', path: '/a' }] },
  'removing the whole object fails': { given: { a: 1 }, patch: [{ op: 'remove', path: '' }] },
  'replacing the whole object by a list fails': { given: {}, patch: [{ op: 'replace', path: '', value: [] }] },
  'a path into the prototype fails': {
    given: {},
    patch: [{ op: 'add', path: '/__proto__/polluted', value: true }],
  },
  'a path into a constructor fails': {
    given: {},
    patch: [{ op: 'add', path: '/constructor/prototype/polluted', value: true }],
  },
}

describe('JSON patch', () => {
  for (const [sentence, { given, patch, then }] of Object.entries(accepted)) {
    it(sentence, () => {
      expect(applyJsonPatch(deepFreeze(given), deepFreeze([...patch]))).toEqual(then)
    })
  }

  for (const [sentence, { given, patch }] of Object.entries(rejected)) {
    it(`${sentence} with 422`, () => {
      expect(refusal(() => applyJsonPatch(deepFreeze(given), deepFreeze([...patch])))).toEqual({
        code: 422,
        reason: 'Invalid',
        message: 'the server rejected our request due to an error in our request',
        details: {},
      })
      expect(({} as JsonObject)['polluted']).toBeUndefined()
    })
  }

  it('is refused with 400 when an operation is not an object', () => {
    expect(refusal(() => applyJsonPatch({}, ['remove everything']))).toMatchObject({
      code: 400,
      message: 'error decoding patch: json: cannot unmarshal string into Go value of type handlers.jsonPatchOp',
    })
  })

  it('is refused with 400 when a path is not text', () => {
    expect(refusal(() => applyJsonPatch({}, [{ op: 'remove', path: 7 }]))).toMatchObject({ code: 400 })
  })

  it('is refused with 413 when it has more than ten thousand operations', () => {
    const patch = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '', value: {} }))
    expect(refusal(() => applyJsonPatch({}, patch))).toMatchObject({
      code: 413,
      message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    })
  })

  it('is refused when copies of copies would grow without bound', () => {
    const doublings = Array.from({ length: 60 }, () => [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/a', value: {} },
      { op: 'copy', from: '/b', path: '/a/left' },
      { op: 'copy', from: '/b', path: '/a/right' },
    ]).flat()
    expect(refusal(() => applyJsonPatch({ a: { text: 'x' } }, doublings))).toMatchObject({ code: 422 })
  })

  it('leaves what no operation touches as it is, by reference', () => {
    const given = deepFreeze({ spec: { nodeName: 'a' }, status: { conditions: [{ type: 'Ready' }, { type: 'Disk' }] } })
    const patched = applyJsonPatch(given, [{ op: 'replace', path: '/status/conditions/0/type', value: 'Alive' }])
    expect(patched['spec']).toBe(given.spec)
    expect((patched['status'] as { conditions: unknown[] }).conditions[1]).toBe(given.status.conditions[1])
  })

  it('keeps a field called __proto__ inside a value as a plain field', () => {
    const value = JSON.parse('{"__proto__": {"polluted": true}}') as JsonObject
    const patched = applyJsonPatch({}, [{ op: 'add', path: '/data', value }])
    expect(JSON.stringify(patched)).toBe('{"data":{"__proto__":{"polluted":true}}}')
    expect((patched['data'] as JsonObject)['polluted']).toBeUndefined()
  })
})

function refusal(attempt: () => unknown) {
  try {
    attempt()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { code: error.code, reason: error.reason, message: error.message, details: error.details }
  }
  return 'accepted'
}
