import { describe, expect, it } from 'vitest'
import { known, type Observed, unknown } from '../shared/observed.ts'
import { largeAnswer } from './answer-size.ts'
import { observeCeph } from './observe-ceph.ts'
import { rememberParsed } from './remember-parsed.ts'
import { readSample } from './testing/read-sample.ts'

function countingParser() {
  const parsed: string[] = []
  const parse = rememberParsed((text): Observed<{ readonly length: number }> => {
    parsed.push(text.slice(0, 3))
    return text.startsWith('bad') ? unknown(text) : known({ length: text.length })
  })
  return { parsed, parse }
}

describe('what was parsed before', () => {
  it('the same text is parsed once, and another one anew', () => {
    const { parsed, parse } = countingParser()
    const first = parse('one')
    expect(parse(['o', 'ne'].join(''))).toBe(first)
    expect(parse('two2')).toEqual(known({ length: 4 }))
    expect(parse('one')).toBe(first)
    expect(parsed).toEqual(['one', 'two'])
  })

  it('what cannot be read stays unknown, and does not hide the next that can', () => {
    const { parse } = countingParser()
    expect(parse('bad')).toEqual(unknown('bad'))
    expect(parse('bad')).toEqual(unknown('bad'))
    expect(parse('good')).toEqual(known({ length: 4 }))
  })

  it('large texts are not kept, and of small ones only a few', () => {
    const { parsed, parse } = countingParser()
    const large = 'x'.repeat(largeAnswer)
    parse(large)
    parse(large)
    for (const text of ['a', 'b', 'c', 'd', 'e', 'a']) parse(text)
    expect(parsed).toEqual(['xxx', 'xxx', 'a', 'b', 'c', 'd', 'e', 'a'])
  })
})

it('one changed byte of an answer is seen: an OSD that went down is down', async () => {
  const texts: Record<string, string> = {
    'osd dump': JSON.stringify(readSample('healthy-osd-dump')),
    'osd crush dump': JSON.stringify(readSample('healthy-osd-crush-dump')),
    'pg dump': JSON.stringify(readSample('healthy-pg-dump-pgs')),
  }
  const look = async () => {
    const map = await observeCeph({ run: async ({ prefix }) => ({ code: 0, out: texts[prefix] ?? '', err: '' }) })
    return map.known ? map.value : undefined
  }
  const before = await look()
  const again = await look()
  expect(again?.pgs).toBe(before?.pgs)
  expect(again).toEqual(before)
  texts['osd dump'] = (texts['osd dump'] as string).replace('"up":1', '"up":0')
  const after = await look()
  expect(after?.pgs).toBe(before?.pgs)
  expect(before?.osds[0]?.isUp).toBe(true)
  expect(after?.osds[0]?.isUp).toBe(false)
})
