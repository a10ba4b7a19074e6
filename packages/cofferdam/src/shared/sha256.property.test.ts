import { createHash } from 'node:crypto'
import { assert, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from './sha256.ts'

const asNode = (text: string) => createHash('sha256').update(text).digest('hex')

describe('sha256', () => {
  it.each([0, 1, 54, 55, 56, 63, 64, 65, 119, 120, 1000])(
    'is what everyone else calculates for a text of %i bytes: a budget under another name would protect nothing that Rook made',
    (length) => {
      expect(sha256('x'.repeat(length))).toBe(asNode('x'.repeat(length)))
    },
  )

  it('is so for every text, broken characters included', () => {
    assert(
      property(string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(sha256(text)).toBe(asNode(text))
      }),
    )
  })
})
