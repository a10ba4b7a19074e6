import type { Observed } from '../domain/observed.ts'
import type { PgTable } from '../domain/safety/ceph-map.ts'
import { parseJsonText } from './json-shape.ts'
import { parsePgDump } from './parse-pg-dump.ts'
import { parsePgListing } from './parse-pg-listing.ts'

/** Turns what `pg dump` printed into columns, wherever that happens. */
export type PgParser = (text: string) => Promise<Observed<PgTable>>

/** Takes JSON and the table for people alike: which of them comes is up to whoever answers. */
export function parsePgText(text: string): Observed<PgTable> {
  if (/^\s*PG_STAT\s/.test(text)) return parsePgListing(text)
  const json = parseJsonText('pg dump', text)
  return json.known ? parsePgDump(json.value) : json
}
