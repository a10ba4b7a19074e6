import { expect, it } from 'vitest'
import { wrapText } from './wrap-text.ts'

const cases: Record<string, { given: [string, number]; then: string[] }> = {
  'a short text is one line': { given: ['one two', 20], then: ['one two'] },
  'a long text is broken at spaces': { given: ['one two three four', 9], then: ['one two', 'three', 'four'] },
  'a word that is too long stays whole: half of a name is no name': {
    given: ['see pdb/shop/orders-of-today now', 8],
    then: ['see', 'pdb/shop/orders-of-today', 'now'],
  },
  'colours take no room': { given: ['\u001b[31mone two\u001b[39m', 7], then: ['\u001b[31mone two\u001b[39m'] },
  'no text is one empty line': { given: ['', 9], then: [''] },
}
it.each(Object.entries(cases))('%s', (_name, { given: [text, width], then }) => {
  expect(wrapText(text, width)).toEqual(then)
})
