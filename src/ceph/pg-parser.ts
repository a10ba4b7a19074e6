import type { Observed } from '../domain/observed.ts'
import type { PgTable } from '../domain/safety/ceph-map.ts'
import { parseJsonText } from './json-shape.ts'
import { parsePgDump } from './parse-pg-dump.ts'

/** Turns what `pg dump` printed into columns, wherever that happens. */
export type PgParser = (text: string) => Promise<Observed<PgTable>>

export function parsePgText(text: string): Observed<PgTable> {
  const json = parseJsonText('pg dump', text)
  return json.known ? parsePgDump(json.value) : json
}
