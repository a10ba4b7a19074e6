import { createHmac, timingSafeEqual } from 'node:crypto'

const proofLength = 32

/**
 * By what the guard recognises the API server: a word in the path that it is registered under, made of the guard's own key. Only the
 * administrators of a cluster may read webhook configurations.
 *
 * It changes with the key and not with time: an idle operator writes nothing. The API server quotes the path to whoever evicts while no
 * guard can be reached; who must not profit from that is kept out by a client certificate.
 */
export function callerProof(signingKey: string): string {
  return createHmac('sha256', signingKey).update('caller of the eviction guard').digest('hex').slice(0, proofLength)
}

/** Whether it is the word of one of these keys: while one follows another, both are good. */
export function isCallerProof(given: string, signingKeys: readonly string[]): boolean {
  if (given.length !== proofLength) return false
  const word = Buffer.from(given)
  return signingKeys.some((key) => {
    const expected = Buffer.from(callerProof(key))
    return word.length === expected.length && timingSafeEqual(word, expected)
  })
}
