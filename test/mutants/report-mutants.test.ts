import { expect, it } from 'vitest'
import { nameOf, readExplained } from './explained.ts'
import type { PlannedMutant } from './mutant.ts'
import { readOutcomes } from './outcomes.ts'
import { help, parseArguments } from './parse-arguments.ts'
import { reportMutants } from './report-mutants.ts'
import { roomOf } from './rooms.ts'

const file = 'packages/cofferdam/src/safety/freshness.ts'
const mutant = (id: number, becomes: string): PlannedMutant => ({
  id,
  file,
  start: 0,
  end: 1,
  line: 10 + id,
  was: 'a || b',
  becomes,
  isStatic: false,
})
const mutants = [mutant(1, 'a'), mutant(2, 'b'), mutant(3, 'a && b'), mutant(4, 'true')]

it('each change that no test noticed is listed with its place, unless it is explained', () => {
  const outcomes = readOutcomes('{"passed":[1,2,3]}\n{"killed":1,"by":"a test"}\n{"skipped":"slow"}\n{"killed":4')
  const explained = readExplained('| `safety/freshness.ts` | `` a \\|\\| b → b `` | both are the same |')
  const { text, unexplained } = reportMutants(mutants, outcomes, explained)
  expect(text.split('\n')).toEqual([
    `survived  ${file}:13  a || b → a && b`,
    `unreached ${file}:14  a || b → true`,
    '',
    'room                  mutants  killed  explained  survived  unreached    score',
    'safety                      4       1          1         1          1   33.3 %',
    'all                         4       1          1         1          1   33.3 %',
  ])
  expect(unexplained).toBe(2)
  expect(explained).toContain(nameOf(mutants[1] as PlannedMutant))
})

it.each([
  { args: [], then: { rooms: [], changed: false, sample: undefined, seed: 1, wide: false, planted: false } },
  {
    args: ['--room', 'safety', '--sample', '60', '--seed', '7'],
    then: { rooms: ['safety'], changed: false, sample: 60, seed: 7, wide: false, planted: false },
  },
  {
    args: ['--planted'],
    then: { rooms: [], changed: false, sample: undefined, seed: 1, wide: false, planted: true },
  },
  { args: ['--planted', '--wide'], then: 'mutants: --planted tries all that is planted, and takes no other option' },
  { args: ['--help'], then: help },
  { args: ['--sample', 'some'], then: 'mutants: --sample and --seed take whole numbers above 0' },
  { args: ['--seeds', '3'], then: expect.stringContaining("Unknown option '--seeds'") },
])('what is asked for is done, and what cannot be meant is said: $args', ({ args, then }) => {
  expect(parseArguments(args)).toEqual(then)
})

it.each([
  [file, 'safety'],
  ['packages/cofferdam/src/ledger/rules/queue.ts', 'ledger'],
  ['packages/cofferdam/src/ledger/store/ledger-store.ts', undefined],
  ['packages/cofferdam/src/capabilities/fencing/domain/decide.ts', 'fencing'],
  ['packages/cofferdam/src/capabilities/fencing/domain/decide.test.ts', undefined],
  ['packages/cofferdam/src/capabilities/fencing/domain/testing/example.ts', undefined],
  ['packages/cofferdam/src/eviction-guard/domain/review.ts', 'eviction-guard'],
])('a file that only judges is in a room: %s', (path, room) => {
  expect(roomOf(path)).toBe(room)
})
