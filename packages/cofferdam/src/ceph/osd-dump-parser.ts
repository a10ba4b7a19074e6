import { createHash } from 'node:crypto'
import type { Observed } from '../shared/observed.ts'
import { textOfBytes } from './answer-of-bytes.ts'
import { type OsdDump, parseOsdDumpText } from './parse-osd-dump.ts'
import { createParsedMemory } from './remember-parsed.ts'

/**
 * Turns what `osd dump` printed into what is read of it, wherever that happens.
 *
 * Assumes: bytes are the parser's from then on, which may hand them to another thread.
 */
export type OsdDumpParser = (printed: string | readonly Uint8Array[]) => Promise<Observed<OsdDump>>

export const parseOsdDumpHere: OsdDumpParser = async (printed) =>
  parseOsdDumpText(typeof printed === 'string' ? printed : textOfBytes(printed))

/**
 * The same parser for large answers, which does not parse again what was printed before: while no OSD and no pool changes, Ceph prints
 * the same. Of what was printed only the digest is kept.
 *
 * Guarantees: the same result, and not only an equal one, while Ceph prints the same. What could not be read is tried again.
 */
export function rememberOsdDumps(parse: OsdDumpParser): OsdDumpParser {
  const memory = createParsedMemory<OsdDump>()
  return async (printed) => {
    // Before the bytes are handed on.
    const digest = digestOf(printed)
    const found = memory.get(digest)
    if (found !== undefined) return found
    const dump = await parse(printed)
    if (dump.known) memory.put(digest, dump)
    return dump
  }
}

function digestOf(printed: string | readonly Uint8Array[]): string {
  const hash = createHash('sha256')
  if (typeof printed === 'string') hash.update(printed)
  else for (const chunk of printed) hash.update(chunk)
  return hash.digest('base64')
}
