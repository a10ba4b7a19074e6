import { describe, expect, it } from 'vitest'
import { decideExpiry, type ExpiryDecision, type ExpirySnapshot } from './decide-expiry.ts'

const ended: ExpirySnapshot = { nowMs: 1_000_000, name: 'reboot-a', uid: 'U', endedMs: 900_000, ttlMs: 60_000 }
const deletion: ExpiryDecision = { steps: [{ do: 'write', name: 'reboot-a', uid: 'U' }], recheckAfterMs: undefined }
const nothing = { steps: [], recheckAfterMs: undefined }

const rows: Record<string, { given: ExpirySnapshot | undefined; then: ExpiryDecision }> = {
  'a request that ended long ago is deleted, so that requests of many upgrades do not pile up': {
    given: ended,
    then: deletion,
  },
  'one that ended just now is kept for those who ask how it went': {
    given: { ...ended, ttlMs: 150_000 },
    then: { steps: [], recheckAfterMs: 50_000 },
  },
  'one that has not ended is never deleted': { given: { ...ended, endedMs: undefined }, then: nothing },
  'without a policy that can be read everything is kept': { given: { ...ended, ttlMs: undefined }, then: nothing },
  'a time of 0 deletes it as soon as it has ended': {
    given: { ...ended, endedMs: 1_000_000, ttlMs: 0 },
    then: deletion,
  },
  'one that is gone needs nothing': { given: undefined, then: nothing },
}

describe('a request after its end', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => expect(decideExpiry(given)).toEqual(then))
})
