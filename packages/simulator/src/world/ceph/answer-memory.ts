import { unixSeconds } from './answers/times.ts'
import type { CephAnswer, CephCommand } from './ceph-commands.ts'
import type { CephState } from './ceph-state.ts'

/** What an answer is made of: as long as these are the same things, it is the same. */
type Ingredients = (state: CephState, changes: number) => readonly unknown[]

/** Only these are remembered; whatever else is asked is answered anew. */
const lasting = new Map<string, Ingredients>([
  ['osd dump', ({ map, okToStop }) => [map.revision, okToStop.isTentacle]],
  ['osd crush dump', ({ map, okToStop }) => [map.tree, okToStop.isTentacle]],
  ['pg dump', ({ seen }) => [seen()]],
  ['osd tree', (_, changes) => [changes]],
  ['osd metadata', (_, changes) => [changes]],
  ['versions', (_, changes) => [changes]],
  ['status', ({ seen }, changes) => [changes, seen()]],
  ['quorum_status', (_, changes) => [changes]],
])

/** These contain the age of the quorum, in seconds. */
const timed = new Set(['status', 'quorum_status'])

interface Remembered {
  readonly made: readonly unknown[]
  readonly age: number | undefined
  readonly answer: CephAnswer
}

export interface AnswerMemoryPorts {
  /** Another number after each change of Ceph. */
  readonly changes: () => number
  /** Called after each command that is more than one of the remembered questions. */
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
    const ingredients = lasting.get(command.prefix)
    if (ingredients === undefined || containsTime(command)) {
      const said = answer(command)
      changed()
      return said
    }
    const key = questionText(command)
    const made = ingredients(state, changes())
    const age = timed.has(command.prefix) ? unixSeconds(state.now() - state.mons.sinceMs) : undefined
    const last = held.get(key)
    const isSame = last?.made.every((part, index) => part === made[index]) === true
    if (isSame && last.age === age) return last.answer
    const said = isSame ? withAge(last.answer, age) : answer(command)
    held.set(key, { made, age, answer: said })
    return said
  }
}

/** Most questions have no argument. */
function questionText(command: CephCommand): string {
  for (const argument in command) if (argument !== 'prefix') return JSON.stringify(command)
  return command.prefix
}

/** `pg dump` of everything has a timestamp in it. */
function containsTime({ prefix, dumpcontents }: CephCommand): boolean {
  return prefix === 'pg dump' && !/^\["pgs(_brief)?"\]$/.test(JSON.stringify(dumpcontents ?? []))
}

/** Nothing happened but that the quorum is older by a second or more. */
function withAge(answer: CephAnswer, age: number | undefined): CephAnswer {
  return { ...answer, out: answer.out.replace(/"quorum_age":\d+/, `"quorum_age":${age}`) }
}
