import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'

/** The bytes of one volume, or of one copy of it. Blocks nobody wrote hold zeros and take no room. */
export class DataBlocks {
  readonly count: number
  readonly blockBytes: number
  readonly #blocks = new Map<number, Uint8Array>()

  constructor(shape: { readonly count: number; readonly blockBytes: number }) {
    this.count = shape.count
    this.blockBytes = shape.blockBytes
  }

  /** Numbers of the blocks that were written, ascending. */
  written(): number[] {
    return [...this.#blocks.keys()].sort((a, b) => a - b)
  }

  get usedCount(): number {
    return this.#blocks.size
  }

  write(block: number, bytes: Uint8Array): void {
    if (!Number.isInteger(block) || block < 0 || block >= this.count) {
      throw new RangeError(`there is no block ${block}: the volume has ${this.count}`)
    }
    if (bytes.length > this.blockBytes)
      throw new RangeError(`a block holds ${this.blockBytes} bytes, not ${bytes.length}`)
    const whole = new Uint8Array(this.blockBytes)
    whole.set(bytes)
    this.#blocks.set(block, whole)
  }

  /** Puts the other's block in place of this one. Bytes that lie here are never changed, so both may hold the same. */
  copyFrom(other: DataBlocks, block: number): void {
    const bytes = other.#blocks.get(block)
    if (bytes === undefined) this.#blocks.delete(block)
    else this.#blocks.set(block, bytes)
  }

  checksumOf(block: number): number {
    const bytes = this.#blocks.get(block)
    return bytes === undefined ? zeroChecksum(this.blockBytes) : checksum(bytes)
  }

  /** Flips a bit, as a bad disk does. */
  corrupt(block: number): void {
    const bytes = this.#blocks.get(block)?.slice() ?? new Uint8Array(this.blockBytes)
    bytes[0] = (bytes[0] ?? 0) ^ 1
    this.#blocks.set(block, bytes)
  }

  /** The blocks in which the two differ, ascending. */
  differencesTo(other: DataBlocks): number[] {
    const touched = new Set([...this.#blocks.keys(), ...other.#blocks.keys()])
    const isSame = (block: number) =>
      this.#blocks.get(block) === other.#blocks.get(block) || this.checksumOf(block) === other.checksumOf(block)
    return [...touched].filter((block) => !isSame(block)).sort((a, b) => a - b)
  }
}

/** Bytes that no other block is likely to hold. */
export function drawBytes(random: Random, count: number): Uint8Array {
  const bytes = new Uint8Array(count)
  for (let index = 0; index < count; index += 1) bytes[index] = (random.next() * 256) | 0
  return bytes
}

/** FNV-1a. */
function checksum(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

const zeroChecksums = new Map<number, number>()

function zeroChecksum(length: number): number {
  let known = zeroChecksums.get(length)
  if (known === undefined) {
    known = checksum(new Uint8Array(length))
    zeroChecksums.set(length, known)
  }
  return known
}
