import { describe, expect, it } from 'vitest'
import { callerProof, isCallerProof } from './caller-proof.ts'

const cases: Record<string, readonly [given: string, accepted: boolean]> = {
  'the word of the key is the API server’s': [callerProof('key'), true],
  'the word of the key that follows counts too: the registration is renewed by one process while others still have the old key':
    [callerProof('next key'), true],
  'a word made of another key is worth nothing, or every cluster’s administrator could speak for ours': [
    callerProof('another key'),
    false,
  ],
  'no word is none': ['', false],
  'half of the word is none': [callerProof('key').slice(0, 16), false],
  'as many characters that take more bytes do not make the comparison fail': ['é'.repeat(32), false],
}

describe('the word by which the guard recognises the API server', () => {
  it.each(Object.entries(cases))('%s', (_, [given, accepted]) => {
    expect(isCallerProof(given, ['next key', 'key'])).toBe(accepted)
  })

  it('may stand in the path of a webhook, where the API server allows small letters, digits and dashes only', () => {
    expect(callerProof('key')).toMatch(/^[0-9a-f]{32}$/)
  })
})
