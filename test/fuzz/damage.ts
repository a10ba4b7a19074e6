import fc from 'fast-check'

const hostile = [
  '__proto__',
  'constructor',
  '"__proto__":{"polluted":true},',
  '1e999',
  '-0',
  '99999999999999999999',
  '\u0000',
  '\u202e',
  '\\ud800',
  '"',
  '{',
  '[',
  'null',
  '&a [*a]',
  '<<: *a',
  '!!js/function',
  '['.repeat(3_000),
  '9'.repeat(2_000),
  'a'.repeat(5_000),
]

/** One damage to a text: a part is left out, doubled or replaced by something that parsers dislike. */
const change = fc.record({
  at: fc.nat(),
  length: fc.nat({ max: 40 }),
  how: fc.constantFrom('cut', 'double', 'replace', 'insert'),
  what: fc.oneof(fc.constantFrom(...hostile), fc.string({ maxLength: 8 })),
})

/** Texts that were whole, with up to six damages each. */
export function damagedTexts(seeds: readonly string[]): fc.Arbitrary<string> {
  return fc.tuple(fc.constantFrom(...seeds), fc.array(change, { minLength: 1, maxLength: 6 })).map(([seed, changes]) =>
    changes.reduce((text, { at, length, how, what }) => {
      const from = at % (text.length + 1)
      const part = text.slice(from, from + length)
      const rest = text.slice(from + length)
      const middle = { cut: '', double: part + part, replace: what, insert: what + part }[how]
      return text.slice(0, from) + middle + rest
    }, seed),
  )
}
