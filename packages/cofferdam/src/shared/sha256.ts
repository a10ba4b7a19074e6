/** The first primes' roots give the constants of the standard; reckoned once instead of listed. */
const { initial, rounds } = constants()

/** SHA-256 in hex (FIPS 180-4). Names of budgets need it, and the domain has no crypto module; nothing secret passes here. */
export function sha256(text: string): string {
  const bytes = paddedBytes(text)
  const hash = [...initial]
  const schedule = Array.from({ length: 64 }, () => 0)
  for (let block = 0; block < bytes.length; block += 64) {
    for (let index = 0; index < 16; index += 1) schedule[index] = wordAt(bytes, block + index * 4)
    for (let index = 16; index < 64; index += 1) {
      const early = schedule[index - 15] as number
      const late = schedule[index - 2] as number
      const s0 = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3)
      const s1 = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10)
      schedule[index] = ((schedule[index - 16] as number) + s0 + (schedule[index - 7] as number) + s1) | 0
    }
    mix(hash, schedule)
  }
  return hash.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

function mix(hash: number[], schedule: readonly number[]): void {
  let [a, b, c, d, e, f, g, h] = hash as [number, number, number, number, number, number, number, number]
  for (let round = 0; round < 64; round += 1) {
    const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (rounds[round] as number) + (schedule[round] as number)) | 0
    const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0]
  }
  for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) hash[index] = ((hash[index] as number) + value) | 0
}

function paddedBytes(text: string): number[] {
  const bytes = [...new TextEncoder().encode(text)]
  const bits = bytes.length * 8
  bytes.push(0x80)
  while (bytes.length % 64 !== 56) bytes.push(0)
  for (let shift = 7; shift >= 0; shift -= 1) bytes.push(Math.floor(bits / 2 ** (shift * 8)) & 0xff)
  return bytes
}

function wordAt(bytes: readonly number[], at: number): number {
  const byte = (offset: number) => bytes[at + offset] as number
  return (byte(0) << 24) | (byte(1) << 16) | (byte(2) << 8) | byte(3)
}

function turned(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}

function constants(): { initial: readonly number[]; rounds: readonly number[] } {
  const primes: number[] = []
  for (let candidate = 2; primes.length < 64; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate)
  }
  const fraction = (root: number) => ((root - Math.floor(root)) * 2 ** 32) | 0
  return {
    initial: primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime))),
    rounds: primes.map((prime) => fraction(Math.cbrt(prime))),
  }
}
