/** In hex. Names and labels that would be too long end in one; nothing secret passes here. By hand, so that decisions need no Node.js. */
export function sha256(text: string): string {
  const bytes = padded(new TextEncoder().encode(text))
  const view = new DataView(bytes.buffer)
  const state = Uint32Array.from(initialState)
  for (let at = 0; at < bytes.length; at += blockBytes) mixBlock(state, view, at)
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('')
}

const blockBytes = 64
const lengthBytes = 8
const rounds = 64

/** The first 32 bits of the fractional parts of square or cube roots of the first primes, as FIPS 180-4 defines them. */
function fractionalBits(count: number, root: (prime: number) => number): Uint32Array {
  const bits = new Uint32Array(count)
  let found = 0
  for (let candidate = 2; found < count; candidate += 1) {
    if (!isPrime(candidate)) continue
    const value = root(candidate)
    bits[found] = Math.floor((value - Math.floor(value)) * 2 ** 32)
    found += 1
  }
  return bits
}

function isPrime(candidate: number): boolean {
  for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) if (candidate % divisor === 0) return false
  return true
}

const initialState = fractionalBits(8, Math.sqrt)
const constants = fractionalBits(rounds, Math.cbrt)

/** With a one bit behind the text, and its length in bits at the end of the last block. */
function padded(text: Uint8Array): Uint8Array<ArrayBuffer> {
  const blocks = Math.ceil((text.length + 1 + lengthBytes) / blockBytes)
  const bytes = new Uint8Array(blocks * blockBytes)
  bytes.set(text)
  bytes[text.length] = 0x80
  new DataView(bytes.buffer).setBigUint64(bytes.length - lengthBytes, BigInt(text.length) * 8n)
  return bytes
}

function mixBlock(state: Uint32Array, view: DataView, at: number): void {
  const words = new Uint32Array(rounds)
  for (let index = 0; index < 16; index += 1) words[index] = view.getUint32(at + index * 4)
  for (let index = 16; index < rounds; index += 1) {
    const [near, far] = [words[index - 2] as number, words[index - 15] as number]
    const small = turned(far, 7) ^ turned(far, 18) ^ (far >>> 3)
    const large = turned(near, 17) ^ turned(near, 19) ^ (near >>> 10)
    words[index] = (words[index - 16] as number) + small + (words[index - 7] as number) + large
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
  for (let index = 0; index < rounds; index += 1) {
    const high = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
    const choice = (e & f) ^ (~e & g)
    const first = (h + high + choice + (constants[index] as number) + (words[index] as number)) | 0
    const low = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + low + majority) | 0]
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) state[index] = (state[index] as number) + word
}

function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}
