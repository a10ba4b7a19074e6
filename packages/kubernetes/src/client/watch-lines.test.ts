import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineDecoder } from './watch-lines.ts'

function decode(chunks: readonly Uint8Array[], maxBytes = 1_000_000): { lines: string[]; rest: string } {
  const decoder = new LineDecoder(maxBytes)
  const lines = chunks.flatMap((chunk) => [...decoder.push(chunk)])
  return { lines, rest: decoder.rest() }
}

describe('lines of a watch', () => {
  it('come out whole wherever the chunks were cut, in the middle of a character too', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', minLength: 1 }), { maxLength: 20 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        (texts, cuts) => {
          const lines = texts.map((text) => JSON.stringify(text))
          const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''), 'utf8')
          const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
          const chunks = [0, ...at].map((start, index) => bytes.subarray(start, at[index]))
          expect(decode(chunks)).toEqual({
            lines: Buffer.from(lines.join('\n')).toString().split('\n').filter(Boolean),
            rest: '',
          })
        },
      ),
    )
  })

  it('an unfinished line is the rest, and empty lines are left out', () => {
    expect(decode([Buffer.from('one\r\n\n\ntwo\nthr'), Buffer.from('ee')])).toEqual({
      lines: ['one', 'two'],
      rest: 'three',
    })
  })

  it('a line of many chunks is put together once', () => {
    const chunks = Array.from({ length: 2_000 }, () => Buffer.alloc(1_000, 'x'))
    expect(decode([...chunks, Buffer.from('\n')], 3_000_000).lines).toEqual(['x'.repeat(2_000_000)])
  })

  it('a line longer than the limit is refused before it fills the memory', () => {
    expect(() => decode([Buffer.alloc(600), Buffer.alloc(600)], 1_000)).toThrow('a line is longer than 1000 bytes')
  })
})
