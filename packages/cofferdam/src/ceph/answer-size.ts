/** Below this, text is made at once: that takes a fraction of a millisecond. */
export const largeAnswer = 256 * 1024

export function sizeOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { byteLength }) => sum + byteLength, 0)
}
