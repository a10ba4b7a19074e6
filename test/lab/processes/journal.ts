import { appendFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** What every component of a lab did and when, in one order: the first thing to read when a story fails. */
export interface Journal {
  tell(who: string, what: string): void
  /** The last lines, or all. */
  text(lines?: number): string
}

/** Journals of this suite, with the folders of their logs; `tell-failures.ts` shows them when a story fails. */
export const openJournals = new Map<string, Journal>()

/** Writes each line to the file at once, so that it is there whatever becomes of this process. */
export function openJournal(file: string): Journal {
  const began = performance.now()
  const lines: string[] = []
  const journal: Journal = {
    tell(who, what) {
      const seconds = ((performance.now() - began) / 1_000).toFixed(1)
      const line = `${seconds.padStart(7)} s  ${who.padEnd(20)} ${what.trimEnd()}`
      lines.push(line)
      appendFileSync(file, `${line}\n`)
    },
    text: (count = lines.length) => lines.slice(-count).join('\n'),
  }
  openJournals.set(dirname(file), journal)
  return journal
}
