import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { readExplained } from './explained.ts'
import { findMutants } from './find-mutants.ts'
import type { PlannedMutant } from './mutant.ts'
import { clearOutcomes, readOutcomes } from './outcomes.ts'
import { type MutantArguments, parseArguments } from './parse-arguments.ts'
import { writePlan } from './plan.ts'
import { planPlanted } from './planted/plan-planted.ts'
import { reportPlanted } from './planted/report-planted.ts'
import { reportMutants } from './report-mutants.ts'
import { folderOf, roomOf } from './rooms.ts'
import { testsThatReach } from './tests-that-reach.ts'

function main(): number {
  const asked = parseArguments(process.argv.slice(2))
  if (typeof asked === 'string') {
    console.log(asked)
    return asked.startsWith('mutants:') ? 2 : 0
  }
  const began = Date.now()
  const minutes = () => `${((Date.now() - began) / 60_000).toFixed(1)} minutes`
  if (asked.planted) {
    const planted = planPlanted()
    if (!tryMutants(planted, true)) return 1
    const { text, missed } = reportPlanted(planted, readOutcomes())
    console.log(`${text}\n${minutes()}`)
    return missed > 0 ? 1 : 0
  }
  const { mutants, atLoad } = planMutants(asked)
  if (!tryMutants(mutants, asked.wide)) return 1
  const outcomes = readOutcomes()
  const { text, unexplained } = reportMutants(mutants, outcomes, readExplained())
  console.log(text)
  console.log(
    `${minutes()}; ${atLoad} more act only when a file is loaded and were not tried; ${outcomes.skipped.size} tests not tried with all that they pass`,
  )
  return unexplained > 0 ? 1 : 0
}

/** False where the tests themselves could not be run. */
function tryMutants(mutants: readonly PlannedMutant[], wide: boolean): boolean {
  const rooms = new Set(mutants.map(({ file }) => roomOf(file)))
  const reaching = testsThatReach(new Set(mutants.map(({ file }) => file)))
  const tests = reaching.filter((test) => wide || rooms.has(folderOf(test) ?? ''))
  writePlan({ mutants, tests, wide })
  clearOutcomes()
  console.log(`${mutants.length} mutants, ${tests.length} test files`)
  const { status } = spawnSync('npx', ['vitest', 'run', '--config', 'vitest.mutants.config.ts'], {
    stdio: 'inherit',
    // Vitest listens once more for each run of a test, and Node.js warns of that.
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  })
  if (status !== 0)
    console.error('mutants: a test failed without a change, or a process died of one: there is no score')
  return status === 0
}

function planMutants(asked: MutantArguments): { readonly mutants: PlannedMutant[]; readonly atLoad: number } {
  const found = targetFiles(asked).flatMap((file) =>
    findMutants(readFileSync(file, 'utf8')).map((mutant) => ({ ...mutant, file })),
  )
  const able = found.filter(({ isStatic }) => !isStatic).map((mutant, at) => ({ ...mutant, id: at + 1 }))
  const mutants = asked.sample === undefined ? able : drawSome(able, asked.sample, seededRandom(asked.seed))
  return { mutants, atLoad: found.length - able.length }
}

function targetFiles({ rooms, changed }: MutantArguments): string[] {
  const root = 'packages/cofferdam/src'
  const all = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => join(root, path))
  const differs = changed ? changedFiles() : undefined
  return all
    .filter((file) => file.endsWith('.ts') && roomOf(file) !== undefined)
    .filter((file) => rooms.length === 0 || rooms.includes(roomOf(file) as string))
    .filter((file) => differs?.has(file) ?? true)
    .sort()
}

function changedFiles(): ReadonlySet<string> {
  const base = execFileSync('git', ['merge-base', 'HEAD', 'main'], { encoding: 'utf8' }).trim()
  return new Set(execFileSync('git', ['diff', '--name-only', base], { encoding: 'utf8' }).split('\n'))
}

function drawSome(mutants: readonly PlannedMutant[], count: number, random: Random): PlannedMutant[] {
  const drawn = mutants.map((mutant) => ({ mutant, at: random.next() })).sort((one, other) => one.at - other.at)
  return drawn
    .slice(0, count)
    .map(({ mutant }) => mutant)
    .sort((one, other) => one.id - other.id)
}

process.exit(main())
