/** The few elements of ASN.1 DER that certificates are made of. Each function returns one encoded element. */

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return element(0x30, Buffer.concat(parts))
}

export function set(...parts: readonly Uint8Array[]): Buffer {
  return element(0x31, Buffer.concat(parts))
}

/** A non-negative integer, given as its bytes. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1
  const significant = bytes.subarray(start)
  // The highest bit is the sign.
  const isNegative = ((significant[0] ?? 0) & 0x80) !== 0
  return element(0x02, isNegative ? Buffer.concat([Buffer.of(0), significant]) : significant)
}

export function boolean(value: boolean): Buffer {
  return element(0x01, Buffer.of(value ? 0xff : 0x00))
}

export function octetString(content: Uint8Array): Buffer {
  return element(0x04, content)
}

export function bitString(content: Uint8Array, unusedBits = 0): Buffer {
  return element(0x03, Buffer.concat([Buffer.of(unusedBits), content]))
}

export function utf8String(text: string): Buffer {
  return element(0x0c, Buffer.from(text))
}

/** `1.2.840.10045.4.3.2` and its like. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second, ...rest.flatMap(base128)]
  return element(0x06, Buffer.from(bytes))
}

/** UTCTime until 2049, GeneralizedTime from then on, as RFC 5280 demands. */
export function time(milliseconds: number): Buffer {
  const text = new Date(milliseconds).toISOString().replace(/[-:T]|\.\d+/g, '')
  const isNear = Number(text.slice(0, 4)) < 2050
  return isNear ? element(0x17, Buffer.from(text.slice(2))) : element(0x18, Buffer.from(text))
}

/** An element with a context-specific tag: constructed when it wraps another, primitive when it replaces a tag. */
export function tagged(number: number, content: Uint8Array, form: 'constructed' | 'primitive' = 'constructed'): Buffer {
  return element((form === 'constructed' ? 0xa0 : 0x80) | number, content)
}

export interface DerElement {
  readonly tag: number
  readonly content: Buffer
  /** Tag, length and content. */
  readonly whole: Buffer
}

/**
 * The elements inside a constructed element's content.
 *
 * @throws RangeError when the bytes are cut short
 */
export function elementsOf(content: Buffer): DerElement[] {
  const elements: DerElement[] = []
  let at = 0
  while (at < content.length) {
    const tag = content[at] as number
    let length = content[at + 1] ?? 0
    let start = at + 2
    if (length & 0x80) {
      const count = length & 0x7f
      length = content.readUIntBE(start, count)
      start += count
    }
    const end = start + length
    if (end > content.length) throw new RangeError('an ASN.1 element ends before its length says')
    elements.push({ tag, content: content.subarray(start, end), whole: content.subarray(at, end) })
    at = end
  }
  return elements
}

function element(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length)
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Buffer.of(0x80 | bytes.length, ...bytes)
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80)
  return bytes
}
