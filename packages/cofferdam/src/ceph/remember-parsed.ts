import type { Observed } from '../shared/observed.ts'
import { largeAnswer } from './answer-size.ts'

/** A few: one operator may manage several clusters. */
const kept = 4

export interface ParsedMemory<T> {
  get(text: string): Observed<T> | undefined
  put(text: string, result: Observed<T>): void
}

/** What was made of the last few texts. */
export function createParsedMemory<T>(): ParsedMemory<T> {
  const held: { readonly text: string; readonly result: Observed<T> }[] = []
  return {
    get: (text) => held.find((one) => one.text === text)?.result,
    put(text, result) {
      if (held.unshift({ text, result }) > kept) held.pop()
    },
  }
}

/**
 * The same parser, which keeps what it made of the last few texts: a Ceph at rest says the same again and again.
 *
 * Guarantees: the same text gives the same result, whole or unknown; large texts are parsed each time, and never kept.
 * Assumes: nobody changes a result.
 */
export function rememberParsed<T>(parse: (text: string) => Observed<T>): (text: string) => Observed<T> {
  const memory = createParsedMemory<T>()
  return (text) => {
    const found = memory.get(text)
    if (found !== undefined) return found
    const result = parse(text)
    if (text.length < largeAnswer) memory.put(text, result)
    return result
  }
}
