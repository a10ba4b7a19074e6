import type { Observed } from '../shared/observed.ts'
import { largeAnswer } from './answer-size.ts'

/** A few: one operator may manage several clusters. */
const kept = 4

interface Parsed<T> {
  readonly text: string
  readonly result: Observed<T>
}

/**
 * The same parser, which keeps what it made of the last few texts: a Ceph at rest says the same again and again.
 *
 * Guarantees: the same text gives the same result, whole or unknown; large texts are parsed each time, and never kept.
 * Assumes: nobody changes a result.
 */
export function rememberParsed<T>(parse: (text: string) => Observed<T>): (text: string) => Observed<T> {
  const held: Parsed<T>[] = []
  return (text) => {
    const found = held.find((one) => one.text === text)
    if (found !== undefined) return found.result
    const result = parse(text)
    if (text.length < largeAnswer && held.unshift({ text, result }) > kept) held.pop()
    return result
  }
}
