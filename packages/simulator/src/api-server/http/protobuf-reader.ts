/** One field as it stands on the wire. */
export type WireField =
  | { readonly number: number; readonly bytes: Buffer }
  | { readonly number: number; readonly integer: bigint }
  | { readonly number: number; readonly double: number }

const varint = 0
const fixed64 = 1
const lengthDelimited = 2
const fixed32 = 5

/** @throws RangeError when the bytes end in the middle of a field, or are no protobuf at all */
export function readFields(bytes: Buffer): readonly WireField[] {
  const fields: WireField[] = []
  let at = 0
  const nextVarint = (): bigint => {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at]
      if (byte === undefined) throw new RangeError('the protobuf message ends in the middle of a number')
      at += 1
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
    throw new RangeError('the protobuf message holds a number that does not end')
  }
  while (at < bytes.length) {
    const tag = Number(nextVarint())
    const number = tag >>> 3
    const wire = tag & 7
    if (wire === varint) {
      fields.push({ number, integer: BigInt.asIntN(64, nextVarint()) })
      continue
    }
    const length =
      wire === lengthDelimited ? Number(nextVarint()) : wire === fixed64 ? 8 : wire === fixed32 ? 4 : undefined
    if (length === undefined || number === 0) throw new RangeError('the protobuf message holds a field of unknown kind')
    if (at + length > bytes.length) throw new RangeError('the protobuf message ends in the middle of a field')
    const content = bytes.subarray(at, at + length)
    at += length
    if (wire === lengthDelimited) fields.push({ number, bytes: content })
    else fields.push({ number, double: wire === fixed64 ? content.readDoubleLE(0) : content.readFloatLE(0) })
  }
  return fields
}

export function bytesOf(fields: readonly WireField[], number: number): Buffer | undefined {
  const field = fields.findLast((candidate) => candidate.number === number)
  return field !== undefined && 'bytes' in field ? field.bytes : undefined
}

export function integerOf(fields: readonly WireField[], number: number): number {
  const field = fields.findLast((candidate) => candidate.number === number)
  return field !== undefined && 'integer' in field ? Number(field.integer) : 0
}
