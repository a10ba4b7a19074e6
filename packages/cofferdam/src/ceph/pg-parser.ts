import type { PgTable } from '../safety/ceph-map.ts'
import type { Observed } from '../shared/observed.ts'
import { parseJsonText } from './json-shape.ts'
import { parsePgDump } from './parse-pg-dump.ts'
import { parsePgListing, parsePgListingBlocks, parsePgListingInTurns } from './parse-pg-listing.ts'
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
  const { isTable, blocks } = begin(chunks)
  return isTable ? parsePgListingBlocks(blocks, countLines(chunks)) : parsePgText([...blocks].join(''))
}

/** Reads a table in this thread, with pauses; undefined for anything else. A thread would take more memory than the table itself. */
export async function parsePgTable(
  chunks: readonly Uint8Array[],
  pause: () => Promise<void>,
): Promise<Observed<PgTable> | undefined> {
  const { isTable, blocks } = begin(chunks)
  return isTable ? parsePgListingInTurns(blocks, countLines(chunks), pause) : undefined
}

/** Reads as far as the first line with something in it, which tells whether it is a table; `blocks` are all, with those. */
function begin(chunks: readonly Uint8Array[]): { readonly isTable: boolean; readonly blocks: Iterable<string> } {
  const rest = textBlocks(chunks)
  const seen: string[] = []
  for (let next = rest.next(); next.done !== true; next = rest.next()) {
    seen.push(next.value)
    if (next.value.trimStart() !== '') return { isTable: isListing(next.value), blocks: concat(seen, rest) }
  }
  return { isTable: false, blocks: seen }
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
