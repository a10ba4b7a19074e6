import { unixSeconds } from './answers/times.ts'
import type { CephAnswer, CephCommand } from './ceph-commands.ts'
import type { CephState, SeenGroup } from './ceph-state.ts'

/** What an answer is made of beside the maps: what the mgr sees of the groups, and how old the quorum is. */
type Ingredient = 'groups' | 'age'

/** Only these are remembered; whatever else is asked is answered anew. */
const lasting: Readonly<Record<string, readonly Ingredient[]>> = {
  'osd dump': [],
  'osd crush dump': [],
  'osd tree': [],
  'osd metadata': [],
  versions: [],
  'pg dump': ['groups'],
  status: ['groups', 'age'],
  quorum_status: ['age'],
}

interface Remembered {
  readonly changes: number
  readonly seen: readonly SeenGroup[] | undefined
  readonly age: number | undefined
  readonly answer: CephAnswer
}

export interface AnswerMemoryPorts {
  /** Another number after each change of Ceph. */
  readonly changes: () => number
  /** Told after each command that is more than one of the remembered questions. */
  readonly changed: () => void
  readonly answer: (command: CephCommand) => CephAnswer
}

/** The same question between two changes of Ceph gets the same answer, made once. */
export function rememberAnswers(
  state: CephState,
  { changes, changed, answer }: AnswerMemoryPorts,
): (command: CephCommand) => CephAnswer {
  const held = new Map<string, Remembered>()
  return (command) => {
    const ingredients = Object.hasOwn(lasting, command.prefix) ? lasting[command.prefix] : undefined
    if (ingredients === undefined || tellsTheTime(command)) {
      const said = answer(command)
      changed()
      return said
    }
    const key = JSON.stringify(command)
    const now = {
      changes: changes(),
      seen: ingredients.includes('groups') ? state.seen() : undefined,
      age: ingredients.includes('age') ? unixSeconds(state.now() - state.mons.sinceMs) : undefined,
    }
    const last = held.get(key)
    const isSame = last?.changes === now.changes && last.seen === now.seen
    if (isSame && last.age === now.age) return last.answer
    const made = isSame ? withAge(last.answer, now.age) : answer(command)
    held.set(key, { ...now, answer: made })
    return made
  }
}

/** `pg dump` of everything has a stamp of the moment in it. */
function tellsTheTime({ prefix, dumpcontents }: CephCommand): boolean {
  const isOfGroups = /^\["pgs(_brief)?"\]$/.test(JSON.stringify(dumpcontents ?? []))
  return prefix === 'pg dump' && !isOfGroups
}

/** Nothing happened but that the quorum is older by a second or more. */
function withAge(answer: CephAnswer, age: number | undefined): CephAnswer {
  return { ...answer, out: answer.out.replace(/"quorum_age":\d+/, `"quorum_age":${age}`) }
}
