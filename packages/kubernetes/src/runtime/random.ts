/** Chance as it is handed to everything that needs some, so that a seed decides it all. */
export interface Random {
  /** At least 0, less than 1. */
  next(): number
  /**
   * Chance of its own for whoever bears this name. What comes from it depends on the seed, the name and what was drawn from it before, and
   * on nobody else's draws: a new actor changes nothing for those who were there. One name is one stream, so whoever comes back under his
   * name goes on where he was.
   */
  stream(name: string): Random
}

/** A small, fast, well-mixed generator (splitmix32): the same seed gives the same sequence on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed | 0
  const streams = new Map<string, Random>()
  return {
    next() {
      state = (state + 0x9e3779b9) | 0
      return mix(state) / 2 ** 32
    },
    stream(name) {
      let stream = streams.get(name)
      if (stream === undefined) {
        stream = seededRandom(seedOf(name, seed))
        streams.set(name, stream)
      }
      return stream
    },
  }
}

function mix(state: number): number {
  let mixed = state ^ (state >>> 16)
  mixed = Math.imul(mixed, 0x21f0aaad)
  mixed ^= mixed >>> 15
  mixed = Math.imul(mixed, 0x735a2d97)
  mixed ^= mixed >>> 15
  return mixed >>> 0
}

function seedOf(name: string, seed: number): number {
  let hash = mix(seed ^ 0x5bd1e995)
  for (let at = 0; at < name.length; at += 1) hash = mix(Math.imul(hash ^ name.charCodeAt(at), 0x01000193))
  return hash
}

export const realRandom: Random = { next: () => Math.random(), stream: () => realRandom }

/** A version 4 UUID made of the given chance. */
export function randomUid(random: Random): string {
  const word = () => ((random.next() * 2 ** 32) >>> 0).toString(16).padStart(8, '0')
  const hex = word() + word() + word() + word()
  const variant = '89ab'[(random.next() * 4) | 0]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}

const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789'

/** Letters as Kubernetes appends to generated names: no vowels, no look-alikes. */
export function randomSuffix(random: Random, length = 5): string {
  return Array.from({ length }, () => suffixLetters[(random.next() * suffixLetters.length) | 0]).join('')
}
