import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSelected, type LabelSelector, parseLabelSelector, selectorText } from './label-selector.ts'

const labels = { app: 'web', tier: 'front', 'example.com/zone': 'a' }

const selected: Record<string, boolean> = {
  '': true,
  'app=web': true,
  'app==web': true,
  'app = web': true,
  'app=api': false,
  'app!=api': true,
  'missing!=x': true,
  app: true,
  '!app': false,
  '!missing': true,
  'app in (api, web)': true,
  'app in (api)': false,
  'app notin (api),tier=front': true,
  'missing notin (a)': true,
  'example.com/zone=a': true,
  'app=': false,
}

describe('a label selector in a query', () => {
  it.each(Object.entries(selected))('"%s" selects the web pod: %s', (text, expected) => {
    expect(isSelected(parseLabelSelector(text), labels)).toBe(expected)
  })

  it.each(['app in web', 'a b', '=x', 'app=-bad-', '-x', 'app in (a', 'app=a=b'])(
    '"%s" is refused, and named',
    (text) => {
      expect(() => parseLabelSelector(text)).toThrow(RangeError)
    },
  )
})

it('an empty selector selects everything, and inherited names are not labels', () => {
  expect(isSelected({}, labels)).toBe(true)
  expect(isSelected({ matchExpressions: [{ key: 'toString', operator: 'Exists' }] }, labels)).toBe(false)
  expect(isSelected({ matchLabels: { app: 'web' } }, undefined)).toBe(false)
})

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/)
const anySelector: fc.Arbitrary<LabelSelector> = fc.record({
  matchLabels: fc.dictionary(word, word, { maxKeys: 3 }),
  matchExpressions: fc.array(
    fc.record({
      key: word,
      operator: fc.constantFrom('In' as const, 'NotIn' as const, 'Exists' as const, 'DoesNotExist' as const),
      values: fc.array(word, { minLength: 1, maxLength: 3 }),
    }),
    { maxLength: 3 },
  ),
})

it('says the same in a query as in a spec', () => {
  fc.assert(
    fc.property(anySelector, fc.dictionary(word, word), (selector, some) => {
      expect(isSelected(parseLabelSelector(selectorText(selector)), some)).toBe(isSelected(selector, some))
    }),
  )
})
