/** Cuts bytes into lines, wherever the chunks were cut. */
export class LineDecoder {
  #parts: Uint8Array[] = []
  #length = 0
  readonly #maxBytes: number

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The lines this chunk completes, without their ends; empty ones are left out. */
  *push(chunk: Uint8Array): Generator<string> {
    let start = 0
    // A line feed is never part of a longer UTF-8 character, so the bytes can be cut before they are decoded.
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#keep(chunk.subarray(start, end))
      const line = this.rest()
      if (line !== '') yield line
      start = end + 1
    }
    this.#keep(chunk.subarray(start))
  }

  /** What came after the last line end; afterwards there is nothing left. */
  rest(): string {
    const line = Buffer.concat(this.#parts, this.#length).toString('utf8').trim()
    this.#parts = []
    this.#length = 0
    return line
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#length += bytes.length
    if (this.#length > this.#maxBytes) throw new RangeError(`a line is longer than ${this.#maxBytes} bytes`)
    // Parts are joined once per line, not once per chunk: joining as they come costs the square of a long line.
    this.#parts.push(bytes)
  }
}
