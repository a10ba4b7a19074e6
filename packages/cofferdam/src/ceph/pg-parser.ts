import type { PgTable } from '../safety/ceph-map.ts'
import type { Observed } from '../shared/observed.ts'
import { parseJsonText } from './json-shape.ts'
import { parsePgDump } from './parse-pg-dump.ts'
import { parsePgListing, parsePgListingBlocks } from './parse-pg-listing.ts'
import { rememberParsed } from './remember-parsed.ts'
import { countLines, textBlocks } from './text-blocks.ts'

/**
 * Turns what `pg dump` printed into columns, wherever that happens.
 *
 * Assumes: bytes are the parser's from then on, which may hand them to another thread.
 */
export type PgParser = (printed: string | readonly Uint8Array[]) => Promise<Observed<PgTable>>

/** Takes JSON and the table for people alike: which of them comes is up to whoever answers. */
export const parsePgText = rememberParsed((text): Observed<PgTable> => {
  if (isListing(text)) return parsePgListing(text)
  const json = parseJsonText('pg dump', text)
  return json.known ? parsePgDump(json.value) : json
})

/** Reads the same as from the text of all chunks together, but makes no such text of a table. */
export function parsePgBytes(chunks: readonly Uint8Array[]): Observed<PgTable> {
  const blocks = textBlocks(chunks)
  const seen: string[] = []
  for (let next = blocks.next(); next.done !== true; next = blocks.next()) {
    seen.push(next.value)
    if (next.value.trimStart() === '') continue
    if (isListing(next.value)) return parsePgListingBlocks(concat(seen, blocks), countLines(chunks))
    break
  }
  return parsePgText([...seen, ...blocks].join(''))
}

export const parsePgHere: PgParser = async (printed) =>
  typeof printed === 'string' ? parsePgText(printed) : parsePgBytes(printed)

function isListing(text: string): boolean {
  return /^\s*PG_STAT\s/.test(text)
}

function* concat(first: Iterable<string>, rest: Iterable<string>): Generator<string> {
  yield* first
  yield* rest
}
