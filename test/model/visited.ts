import { width } from './state.ts'

/** All states that were seen, numbered in the order in which they were, each stored whole: no two are ever confused. */
export class Visited {
  #vectors = new Uint32Array(width << 16)
  #slots = new Int32Array(1 << 18).fill(-1)
  #size = 0

  get size(): number {
    return this.#size
  }

  get vectors(): Uint32Array {
    return this.#vectors
  }

  /** The number of a state, and whether it is new. */
  add(vector: readonly number[]): { readonly index: number; readonly isNew: boolean } {
    const mask = this.#slots.length - 1
    let slot = hashOf(vector, 0) & mask
    for (;;) {
      const index = this.#slots[slot] as number
      if (index < 0) break
      if (this.#isAt(index, vector)) return { index, isNew: false }
      slot = (slot + 1) & mask
    }
    const index = this.#size
    if ((index + 1) * width > this.#vectors.length) this.#vectors = grown(this.#vectors)
    this.#vectors.set(vector, index * width)
    this.#slots[slot] = index
    this.#size += 1
    if (this.#size * 2 > this.#slots.length) this.#rehash()
    return { index, isNew: true }
  }

  #isAt(index: number, vector: readonly number[]): boolean {
    const start = index * width
    for (let at = 0; at < width; at += 1) if (this.#vectors[start + at] !== vector[at]) return false
    return true
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2).fill(-1)
    const mask = slots.length - 1
    for (let index = 0; index < this.#size; index += 1) {
      let slot = hashOf(this.#vectors, index * width) & mask
      while ((slots[slot] as number) >= 0) slot = (slot + 1) & mask
      slots[slot] = index
    }
    this.#slots = slots
  }
}

function hashOf(vector: ArrayLike<number>, start: number): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < width; at += 1) {
    hash = Math.imul(hash ^ (vector[start + at] as number), 0x85ebca6b)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

function grown(before: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const after = new Uint32Array(before.length * 2)
  after.set(before)
  return after
}

/** A list of numbers that grows. */
export class Numbers {
  #values = new Uint32Array(1 << 16)
  length = 0

  push(value: number): void {
    if (this.length === this.#values.length) this.#values = grown(this.#values)
    this.#values[this.length] = value
    this.length += 1
  }

  at(index: number): number {
    return this.#values[index] as number
  }
}
