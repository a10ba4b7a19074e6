import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isSameJson } from './json.ts'

it('an absent field and an undefined one are the same; null is not', () => {
  expect(isSameJson({ a: 1 }, { a: 1, b: undefined })).toBe(true)
  expect(isSameJson({ a: 1, b: undefined }, { a: 1 })).toBe(true)
  expect(isSameJson({ a: 1 }, { a: 1, b: null })).toBe(false)
  expect(isSameJson([1], { 0: 1 })).toBe(false)
})

it('a field that every object inherits is absent until an object has its own', () => {
  expect(isSameJson({}, { toString: 0 })).toBe(false)
  expect(isSameJson({ constructor: 'a' }, {})).toBe(false)
  expect(isSameJson({ constructor: 'a' }, { constructor: 'a' })).toBe(true)
})

it('agrees with the text of the two values', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
      expect(isSameJson(left, structuredClone(left))).toBe(true)
      const canonical = (value: unknown): string =>
        JSON.stringify(value, (_, part) =>
          typeof part === 'object' && part !== null && !Array.isArray(part)
            ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
            : part,
        )
      expect(isSameJson(left, right)).toBe(canonical(left) === canonical(right))
    }),
  )
})
