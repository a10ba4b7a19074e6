import { describe, expect, it } from 'vitest'
import { harmlessData, harmlessJson, harmlessText } from './harmless-text.ts'

const cases: Record<string, readonly [text: string, shown: string]> = {
  'ordinary words stay as they are, in every language': ['Zoë’s 网站 🚢 – ok', 'Zoë’s 网站 🚢 – ok'],
  'a clear-screen would hide what was printed above': ['\u001b[2Jbob', '\\x1b[2Jbob'],
  'a forged line would pass for an answer of ours': ['bob\nnode/a  free', 'bob\\nnode/a  free'],
  'a carriage return would overwrite the line': ['bob\rfree', 'bob\\rfree'],
  'a tab would move what follows': ['a\tb', 'a\\tb'],
  'a bell, a backspace and a NUL': ['\u0007\b\u0000', '\\x07\\x08\\x00'],
  'DEL and the one-character CSI of C1': ['\u007f\u009b31m', '\\x7f\\x9b31m'],
  'an override of direction would turn words round': ['\u202edeifirev\u202c', '\\u202edeifirev\\u202c'],
  'an isolate, a mark and a line separator': [
    '\u2066x\u2069\u200f\u061c\u2028',
    '\\u2066x\\u2069\\u200f\\u061c\\u2028',
  ],
}

describe('text from the cluster, as it is printed', () => {
  it.each(Object.entries(cases))('%s', (_sentence, [text, shown]) => {
    expect(harmlessText(text)).toBe(shown)
    expect(harmlessText(shown)).toBe(shown)
    expect(harmlessData({ a: [{ b: text }], [text]: 1 })).toEqual({ a: [{ b: shown }], [shown]: 1 })
    const json = harmlessJson(JSON.stringify({ text }))
    expect(JSON.parse(json)).toEqual({ text })
    expect(harmlessText(json)).toBe(json)
  })

  it('copies nothing where there is nothing to change', () => {
    const data = { a: [{ b: 'x' }], c: undefined, d: new Map([['k', 1]]) }
    expect(harmlessData(data)).toBe(data)
  })
})
