/** Numbers without a pattern that a search could fall for; the same seed gives the same ones. */
export function mixedNumbers(seed: number): { below(limit: number): number } {
  let state = (seed | 0) ^ 0x5bd1e995
  if (state === 0) state = 1
  return {
    below(limit) {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      return (state >>> 0) % limit
    },
  }
}
