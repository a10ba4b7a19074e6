import { describe, expect, it } from 'vitest'
import { callerProof, isCallerProof } from './caller-proof.ts'

const hour = 3_600_000
const now = 1_000 * hour + 60_000

const cases: Record<string, readonly [given: string, accepted: boolean]> = {
  'the word of this hour is the API server’s': [callerProof('key', now), true],
  'the word of the last hour still counts: the registration is renewed only after the hour has begun': [
    callerProof('key', now - hour),
    true,
  ],
  'the word of the next hour counts: the leader’s clock may be ahead': [callerProof('key', now + hour), true],
  'a word of two hours ago is worth nothing: an error message may have quoted it': [
    callerProof('key', now - 2 * hour),
    false,
  ],
  'a word made of another key is worth nothing, or every cluster’s administrator could speak for ours': [
    callerProof('another key', now),
    false,
  ],
  'no word is none': ['', false],
  'half of the word is none': [callerProof('key', now).slice(0, 16), false],
  'as many characters that take more bytes do not make the comparison fail': ['é'.repeat(32), false],
}

describe('the word by which the guard recognises the API server', () => {
  it.each(Object.entries(cases))('%s', (_, [given, accepted]) => {
    expect(isCallerProof(given, ['next key', 'key'], now)).toBe(accepted)
  })

  it('may stand in the path of a webhook, where the API server allows small letters, digits and dashes only', () => {
    expect(callerProof('key', now)).toMatch(/^[0-9a-f]{32}$/)
  })
})
