/** Fields of one protobuf message, in the order given. Only what OpenAPI documents need: text, messages, flags, counts. */
export type Field =
  | readonly [number: number, value: string]
  | readonly [number: number, value: boolean]
  | readonly [number: number, value: Uint8Array]

const lengthDelimited = 2

export function encodeMessage(fields: readonly Field[]): Buffer {
  const parts: Uint8Array[] = []
  for (const [number, value] of fields) {
    if (typeof value === 'boolean') {
      parts.push(encodeVarint(number << 3), encodeVarint(value ? 1 : 0))
      continue
    }
    const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value
    parts.push(encodeVarint((number << 3) | lengthDelimited), encodeVarint(bytes.length), bytes)
  }
  return Buffer.concat(parts)
}

function encodeVarint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest > 127) {
    bytes.push((rest & 127) | 128)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
  return Buffer.from(bytes)
}
