import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'

/** Longer than any line of ours: the bodies of answers are not in lines. */
const longestLine = 1024 * 1024

interface OpenBody {
  readonly header: JsonObject
  readonly chunks: Buffer[]
  missing: number
}

/**
 * Cuts a stream into lines of JSON, each followed by as many raw bytes as its `outBytes` says.
 *
 * Guarantees: nothing more is read after a fault; no body above `maxBytes` is ever kept.
 */
export function createAnswerStream(options: {
  readonly maxBytes: number
  readonly onAnswer: (header: JsonObject, body: readonly Uint8Array[]) => void
  readonly onFault: (why: string) => void
}): (chunk: Buffer) => void {
  const { maxBytes, onAnswer, onFault } = options
  let line: Buffer[] = []
  let lineBytes = 0
  let body: OpenBody | undefined
  let isBroken = false

  function fault(why: string): void {
    isBroken = true
    line = []
    body = undefined
    onFault(why)
  }

  function endLine(): void {
    const header = parseHeader(Buffer.concat(line).toString('utf8'))
    line = []
    lineBytes = 0
    const size = header?.['outBytes'] ?? 0
    if (header === undefined) fault('it wrote a line that is not JSON')
    else if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) fault('it announced no size')
    else if (size > maxBytes) fault(`it announced an answer of ${size} bytes`)
    else if (size === 0) onAnswer(header, [])
    else body = { header, chunks: [], missing: size }
  }

  /** Takes what belongs to the body, and returns the rest. */
  function fill(open: OpenBody, chunk: Buffer): Buffer {
    const taken = chunk.subarray(0, open.missing)
    open.chunks.push(taken)
    open.missing -= taken.length
    if (open.missing === 0) {
      body = undefined
      onAnswer(open.header, open.chunks)
    }
    return chunk.subarray(taken.length)
  }

  return (chunk) => {
    let rest = chunk
    while (rest.length > 0 && !isBroken) {
      if (body !== undefined) {
        rest = fill(body, rest)
        continue
      }
      const end = rest.indexOf(10)
      const part = end === -1 ? rest : rest.subarray(0, end)
      line.push(part)
      lineBytes += part.length
      rest = rest.subarray(end === -1 ? rest.length : end + 1)
      if (lineBytes > longestLine) fault('it wrote a line without end')
      else if (end !== -1) endLine()
    }
  }
}

function parseHeader(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
