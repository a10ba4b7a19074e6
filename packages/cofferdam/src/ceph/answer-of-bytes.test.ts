import { describe, expect, it } from 'vitest'
import { answerOfBytes } from './answer-of-bytes.ts'
import { largeAnswer } from './answer-size.ts'

const ok = { code: 0, err: '' }

describe('an answer made of bytes', () => {
  it('is plain text when it is small, even where a character was cut', () => {
    const bytes = Buffer.from('größer')
    expect(answerOfBytes({ ...ok, bytes: [bytes.subarray(0, 3), bytes.subarray(3)] })).toEqual({ ...ok, out: 'größer' })
    expect(answerOfBytes({ ...ok, bytes: [] })).toEqual({ ...ok, out: '' })
  })

  it.each(['x', 'ö'])('keeps its chunks when it is large, and is the same text (%s) whenever it is read', (letter) => {
    const text = letter.repeat(largeAnswer)
    const bytes = [new TextEncoder().encode(text)]
    const answer = answerOfBytes({ ...ok, bytes })
    expect(answer.bytes).toBe(bytes)
    expect([answer.out === text, answer.out === text]).toEqual([true, true])
  })

  it('whose bytes went to another thread has no text, instead of an empty one', () => {
    const chunk = new Uint8Array(largeAnswer)
    const answer = answerOfBytes({ ...ok, bytes: [chunk] })
    structuredClone(chunk, { transfer: [chunk.buffer] })
    expect(() => answer.out).toThrow('the bytes of this answer were handed on')
  })
})
