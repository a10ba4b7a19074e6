import { isJsonObject, isSameJson, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deepFreeze } from '../store/deep-freeze.ts'
import { applyMergePatch } from './merge-patch.ts'

const names = fc.constantFrom('a', 'b', 'c', 'constructor', 'toString')
const { object } = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  object: fc.dictionary(names, tie('value'), { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<JsonObject>,
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Json>(0, 1, 'x', true),
    fc.array(fc.constantFrom<Json>(0, 'x', null), { maxLength: 2 }),
    tie('object') as fc.Arbitrary<Json>,
  ),
}))

/** The smallest patch from one object to another, written independently of the code under test. */
function patchBetween(from: JsonObject, to: JsonObject): JsonObject {
  const patch: Record<string, Json> = {}
  const fromEntries = new Map(Object.entries(from))
  for (const [name, wanted] of Object.entries(to)) {
    const current = fromEntries.get(name)
    if (wanted === undefined || isSameJson(current, wanted)) continue
    patch[name] = isJsonObject(current) && isJsonObject(wanted) ? patchBetween(current, wanted) : wanted
  }
  for (const name of fromEntries.keys()) if (!Object.hasOwn(to, name)) patch[name] = null
  return patch
}

describe('merge patch, whatever the objects', () => {
  it('leads from any object to any other when it says what differs', () => {
    fc.assert(
      fc.property(object, object, (from, to) => {
        deepFreeze(from)
        const patch = deepFreeze({ ...patchBetween(from, to) })
        expect(applyMergePatch(from, patch)).toEqual(to)
      }),
    )
  })

  it('does nothing the second time', () => {
    fc.assert(
      fc.property(object, object, (given, patch) => {
        const once = deepFreeze({ ...applyMergePatch(deepFreeze(given), deepFreeze(patch)) })
        expect(applyMergePatch(once, patch)).toBe(once)
      }),
    )
  })
})
