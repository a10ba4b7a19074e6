import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { describe, expect, it } from 'vitest'
import { deepFreeze } from '../store/deep-freeze.ts'
import { applyMergePatch } from './merge-patch.ts'

// The table of RFC 7386, appendix A, as far as objects are concerned, and what Kubernetes users do.
const table: Record<string, { given: JsonObject; patch: JsonObject; then: JsonObject }> = {
  'a field takes the value of the patch': { given: { a: 'b' }, patch: { a: 'c' }, then: { a: 'c' } },
  'a new field is added': { given: { a: 'b' }, patch: { b: 'c' }, then: { a: 'b', b: 'c' } },
  'null removes the only field': { given: { a: 'b' }, patch: { a: null }, then: {} },
  'null removes one field of two': { given: { a: 'b', b: 'c' }, patch: { a: null }, then: { b: 'c' } },
  'a list becomes a scalar': { given: { a: ['b'] }, patch: { a: 'c' }, then: { a: 'c' } },
  'a scalar becomes a list': { given: { a: 'c' }, patch: { a: ['b'] }, then: { a: ['b'] } },
  'null below removes only what it names': {
    given: { a: { b: 'c' } },
    patch: { a: { b: 'd', c: null } },
    then: { a: { b: 'd' } },
  },
  'lists are replaced, not merged': { given: { a: [{ b: 'c' }] }, patch: { a: [1] }, then: { a: [1] } },
  'a null in the object stays when nobody speaks of it': {
    given: { e: null },
    patch: { a: 1 },
    then: { e: null, a: 1 },
  },
  'a scalar becomes an object, without the nulls of the patch': {
    given: { a: 'foo' },
    patch: { a: { bb: { ccc: null } } },
    then: { a: { bb: {} } },
  },
  'an object in the patch creates what is missing': {
    given: {},
    patch: { a: { bb: { ccc: null } } },
    then: { a: { bb: {} } },
  },
  'kubectl label with a dash removes the label': {
    given: { metadata: { labels: { app: 'web', tier: 'front' } } },
    patch: { metadata: { labels: { tier: null } } },
    then: { metadata: { labels: { app: 'web' } } },
  },
}

describe('merge patch', () => {
  for (const [sentence, { given, patch, then }] of Object.entries(table)) {
    it(sentence, () => {
      expect(applyMergePatch(deepFreeze(given), deepFreeze(patch))).toEqual(then)
    })
  }

  it('returns the object itself when it changes nothing', () => {
    const given = deepFreeze({ metadata: { labels: { app: 'web' } }, spec: { ports: [1, 2] } })
    const patch = { metadata: { labels: { app: 'web', gone: null } }, spec: { ports: [1, 2] } }
    expect(applyMergePatch(given, patch)).toBe(given)
  })

  it('shares what it leaves alone', () => {
    const given = deepFreeze({ spec: { a: { b: 1 }, c: { d: 1 } } })
    const merged = applyMergePatch(given, { spec: { a: { b: 2 } } }) as typeof given
    expect(merged.spec.c).toBe(given.spec.c)
  })

  it('changes no prototype', () => {
    const patch = JSON.parse('{"data":{"__proto__":{"polluted":true}}}') as JsonObject
    const merged = applyMergePatch(deepFreeze({ data: {} }), patch)
    expect(JSON.stringify(merged)).toBe('{"data":{"__proto__":{"polluted":true}}}')
    expect(({} as JsonObject)['polluted']).toBeUndefined()
    expect((merged['data'] as JsonObject)['polluted']).toBeUndefined()
  })
})
