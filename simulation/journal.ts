import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'

/** What outcomes depend on beside their seed: those of another program, or of other stories, are none of this run. */
export interface JournalHead {
  readonly program: string
  readonly isShort: boolean
  readonly twice: boolean
}

export interface Journal<T> {
  /** By their seeds, what was noted before. */
  readonly noted: ReadonlyMap<number, T>
  /** Is on disk when this returns: a run that is killed has lost only what it had not ended. */
  note(outcome: T): void
  close(): void
}

/** Opens the journal of a long run, which goes on where it was ended; a text: why it cannot. */
export function openJournal<T extends { readonly seed: number }>(file: string, head: JournalHead): Journal<T> | string {
  const present = readWhole(file)
  if (typeof present === 'string') return present
  const [first, ...lines] = present
  const opening = JSON.stringify(head)
  if (first !== undefined && first !== opening)
    return `simulate: ${file} was begun by another program, with other options, or is no journal: name another file, or delete it to begin again`
  const noted = new Map<number, T>()
  for (const [index, line] of lines.entries()) {
    const outcome = parseOutcome<T>(line)
    if (outcome === undefined)
      return `simulate: line ${index + 2} of ${file} is no outcome: name another file, or delete it to begin again`
    noted.set(outcome.seed, outcome)
  }
  const descriptor = openAnew(file, [opening, ...lines])
  if (typeof descriptor === 'string') return descriptor
  return {
    noted,
    note(outcome) {
      writeSync(descriptor, `${JSON.stringify(outcome)}\n`)
      fsyncSync(descriptor)
    },
    close: () => closeSync(descriptor),
  }
}

/** Without the line that a killed run has left half written. */
function openAnew(file: string, lines: readonly string[]): number | string {
  try {
    writeFileSync(file, [...lines, ''].join('\n'))
    return openSync(file, 'a')
  } catch (error) {
    return `simulate: ${file} cannot be written: ${(error as Error).message}`
  }
}

/** All lines that were written to their end. */
function readWhole(file: string): string[] | string {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    return `simulate: ${file} cannot be read: ${(error as Error).message}`
  }
}

function parseOutcome<T extends { readonly seed: number }>(line: string): T | undefined {
  try {
    const outcome = JSON.parse(line) as T | null
    return Number.isSafeInteger(outcome?.seed) ? (outcome as T) : undefined
  } catch {
    return undefined
  }
}
