import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'

/** A promise that was broken. */
export interface Violation {
  /** The invariant, as docs/reference/reliability.md names it: `S1`. */
  readonly rule: string
  readonly sentence: string
  /** Seconds since the story began. */
  readonly second: number
}

export interface Blame {
  readonly violations: readonly Violation[]
  blame(rule: string, sentence: string): void
}

export function openBlame(clock: Clock, tell: (line: string) => void): Blame {
  const violations: Violation[] = []
  const startMs = clock.now()
  return {
    violations,
    blame(rule, sentence) {
      if (violations.some((known) => known.rule === rule && known.sentence === sentence)) return
      violations.push({ rule, sentence, second: Math.round((clock.now() - startMs) / 1_000) })
      tell(`BROKEN ${rule}: ${sentence}`)
    },
  }
}
