const newline = 10

/**
 * Decodes chunks into blocks of whole lines, so that a large text never is one string.
 *
 * Guarantees: the blocks, joined, are what all bytes together decode to, wherever the chunks were cut: no character of
 * UTF-8 has a newline within.
 */
export function* textBlocks(chunks: Iterable<Uint8Array>): Generator<string> {
  let begun: Uint8Array[] = []
  for (const chunk of chunks) {
    const end = chunk.lastIndexOf(newline) + 1
    if (end > 0) {
      yield decode([...begun, chunk.subarray(0, end)])
      begun = []
    }
    if (end < chunk.length) begun.push(chunk.subarray(end))
  }
  if (begun.length > 0) yield decode(begun)
}

export function countLines(chunks: Iterable<Uint8Array>): number {
  let lines = 1
  for (const chunk of chunks) {
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, end + 1)) lines += 1
  }
  return lines
}

function decode(parts: readonly Uint8Array[]): string {
  return Buffer.concat(parts).toString('utf8')
}
