import { nameOf } from './explained.ts'
import { describeChange, type PlannedMutant } from './mutant.ts'
import type { ReadOutcomes } from './outcomes.ts'
import { roomOf } from './rooms.ts'

interface Counted {
  mutants: number
  killed: number
  explained: number
  survived: number
  unreached: number
}

export interface MutantReport {
  readonly text: string
  readonly unexplained: number
}

/** One row for each room, and each change that no test noticed. */
export function reportMutants(
  mutants: readonly PlannedMutant[],
  outcomes: ReadOutcomes,
  explained: ReadonlySet<string>,
): MutantReport {
  const rooms = new Map<string, Counted>()
  const all = emptyCount()
  const lines: string[] = []
  for (const mutant of mutants) {
    const room = roomOf(mutant.file) ?? ''
    const counted = rooms.get(room) ?? emptyCount()
    rooms.set(room, counted)
    const outcome = outcomeOf(mutant, outcomes, explained)
    for (const count of [counted, all]) {
      count.mutants += 1
      count[outcome] += 1
    }
    if (outcome === 'survived' || outcome === 'unreached')
      lines.push(`${outcome.padEnd(9)} ${mutant.file}:${mutant.line}  ${describeChange(mutant)}`)
  }
  const rows = [...rooms]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([room, counted]) => row(room, counted))
  const head = 'room                  mutants  killed  explained  survived  unreached    score'
  return {
    text: [...lines, '', head, ...rows, row('all', all)].join('\n'),
    unexplained: all.survived + all.unreached,
  }
}

function outcomeOf(
  mutant: PlannedMutant,
  outcomes: ReadOutcomes,
  explained: ReadonlySet<string>,
): keyof Omit<Counted, 'mutants'> {
  if (outcomes.killed.has(mutant.id)) return 'killed'
  if (explained.has(nameOf(mutant))) return 'explained'
  return outcomes.passed.has(mutant.id) ? 'survived' : 'unreached'
}

function emptyCount(): Counted {
  return { mutants: 0, killed: 0, explained: 0, survived: 0, unreached: 0 }
}

/** Explained ones are left out of the score: most of them change nothing. */
function row(room: string, { mutants, killed, explained, survived, unreached }: Counted): string {
  const score = ((100 * killed) / Math.max(1, mutants - explained)).toFixed(1)
  const numbers = [mutants, killed, explained, survived, unreached].map(String)
  const widths = [7, 8, 11, 10, 11]
  return `${room.padEnd(20)}  ${numbers.map((text, at) => text.padStart(widths[at] ?? 0)).join('')}  ${score.padStart(5)} %`
}
