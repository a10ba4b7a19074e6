import { createHmac, timingSafeEqual } from 'node:crypto'

const proofLength = 32
const validMs = 3_600_000

/**
 * By what the guard recognises the API server: a word in the path that it is registered under, made of the guard's own key and the
 * hour. Only the administrators of a cluster may read webhook configurations.
 *
 * It changes every hour, since the API server quotes the path to whoever evicts while no guard can be reached.
 */
export function callerProof(signingKey: string, nowMs: number): string {
  return createHmac('sha256', signingKey)
    .update(`caller of the eviction guard, ${Math.floor(nowMs / validMs)}`)
    .digest('hex')
    .slice(0, proofLength)
}

/** Whether it is the word of this hour, of the last one, or of the next where clocks differ. */
export function isCallerProof(given: string, signingKeys: readonly string[], nowMs: number): boolean {
  if (given.length !== proofLength) return false
  const word = Buffer.from(given)
  return signingKeys.some((key) =>
    [0, -validMs, validMs].some((shift) => {
      const expected = Buffer.from(callerProof(key, nowMs + shift))
      return word.length === expected.length && timingSafeEqual(word, expected)
    }),
  )
}
