/** One change of one expression. All mutants of a file are compiled in at once; which of them is active is chosen while it runs. */
export interface Mutant {
  readonly start: number
  readonly end: number
  readonly line: number
  readonly was: string
  readonly becomes: string
  /** Evaluated once, when the file is loaded: it cannot be chosen later. */
  readonly isStatic: boolean
}

export interface PlannedMutant extends Mutant {
  readonly id: number
  /** From the root of the repository. */
  readonly file: string
}

/** What is printed of it, and how it is named in the list of explained survivors. */
export function describeChange(mutant: Pick<Mutant, 'was' | 'becomes'>): string {
  return `${shorten(mutant.was)} → ${shorten(mutant.becomes)}`
}

function shorten(text: string): string {
  const oneLine = text.replace(/\s+/g, ' ').trim()
  return oneLine.length <= 90 ? oneLine : `${oneLine.slice(0, 60)} … ${oneLine.slice(-27)}`
}
