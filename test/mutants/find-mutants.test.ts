import { describe, expect, it } from 'vitest'
import { findMutants } from './find-mutants.ts'
import { describeChange } from './mutant.ts'

const inFunction = (body: string) => findMutants(`function f(a, b) {\n${body}\n}`).map(describeChange)

const changes: Record<string, readonly [string, readonly string[]]> = {
  'a comparison is off by one and turned round': [
    'a < b ? a : b',
    ['a < b → true', 'a < b → false', 'a < b → a <= b', 'a < b → a >= b'],
  ],
  'of two conditions each is left out, and one is enough': [
    'g = a && !b',
    ['g = a && !b → undefined', 'a && !b → a || !b', 'a && !b → a', 'a && !b → !b', '!b → b'],
  ],
  'a text that is put together is not subtracted': ["g = 'a' + b", ["g = 'a' + b → undefined"]],
  'a list is empty, and what is in it changes': ['return [1]', ['[1] → undefined', '[1] → []', '1 → 2']],
  'what is filtered is left as it was': ['return a.filter(b)', ['a.filter(b) → undefined', 'a.filter(b) → a']],
  'some become all': ['return a.some(b)', ['a.some(b) → undefined', 'a.some(b) → a.every(b)']],
  'that it is sorted matters, how is not changed': [
    'a.sort((x, y) => x - y)',
    ['a.sort((x, y) => x - y) → undefined', 'a.sort((x, y) => x - y) → a'],
  ],
  'a reason is empty': [
    "return { reason: 'Held', text: 'x' }",
    ["{ reason: 'Held', text: 'x' } → undefined", "'Held' → ''"],
  ],
  'links of an optional chain stay together': ['return a?.b.filter(b).length', ['a?.b.filter(b).length → undefined']],
  'types are not changed': ['const c = a as 1 | true', []],
}

describe('what is changed', () => {
  it.each(Object.entries(changes))('%s', (_, [body, then]) => {
    expect(inFunction(body)).toEqual(then)
  })

  it('outside of functions cannot be chosen while it runs, and is marked', () => {
    expect(findMutants('const limit = 5\nconst f = () => 6').map(({ line, isStatic }) => [line, isStatic])).toEqual([
      [1, true],
      [2, false],
    ])
  })
})
