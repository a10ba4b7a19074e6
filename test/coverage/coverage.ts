import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import {
  addRuns,
  branchesOf,
  coverageOfRooms,
  type FileCoverage,
  isJudging,
  isProduct,
  linesOf,
  missedBranches,
  type Share,
  sum,
} from './coverage-of-rooms.ts'
import { findMissedGoals } from './goals.ts'

/** `--deep` adds the deep tests, `--report` reads the last run again, `--missed` lists the branches that no test takes in rooms that judge. */
const options = new Set(process.argv.slice(2))
const runs = ['quick', ...(options.has('--deep') ? ['deep'] : [])]

function measure(run: string): boolean {
  const own = [
    '--coverage.enabled',
    '--coverage.provider=v8',
    '--coverage.include=packages/*/src/**/*.ts',
    '--coverage.exclude=**/*.{test,contract}.ts',
    '--coverage.exclude=**/testing/**',
    '--coverage.exclude=**/dashboard/page/**',
    '--coverage.reporter=json',
    '--coverage.reportOnFailure',
    `--coverage.reportsDirectory=coverage/${run}`,
  ]
  const config = run === 'deep' ? ['--config', 'vitest.deep.config.ts'] : []
  const { status } = spawnSync('npx', ['vitest', 'run', ...config, ...own, '--reporter=dot'], { stdio: 'inherit' })
  return status === 0
}

function read(run: string): FileCoverage[] {
  const files = JSON.parse(readFileSync(`coverage/${run}/coverage-final.json`, 'utf8')) as Record<string, FileCoverage>
  return Object.values(files).map((file) => ({ ...file, path: relative(process.cwd(), file.path) }))
}

function print(name: string, lines: Share, branches: Share): void {
  const cells = [lines, branches].map(({ reached, of }) => {
    const share = of === 0 ? '-' : ((100 * reached) / of).toFixed(2)
    return `${reached} of ${of}`.padStart(16) + share.padStart(8)
  })
  console.log(`${name.padEnd(38)}${cells.join('')}`)
}

const passed = options.has('--report') || runs.map(measure).every(Boolean)
const files = runs.map(read).reduce(addRuns)
const rooms = coverageOfRooms(files)
console.log(
  `\n${'room'.padEnd(38)}${'lines'.padStart(16)}${'%'.padStart(8)}${'branches'.padStart(16)}${'%'.padStart(8)}`,
)
for (const { room, lines, branches } of rooms) print(room, lines, branches)
const [judging, product] = [files.filter(isJudging), files.filter(isProduct)]
print('all rooms that judge', sum(judging.map(linesOf)), sum(judging.map(branchesOf)))
print('the product', sum(product.map(linesOf)), sum(product.map(branchesOf)))
if (options.has('--missed')) console.log(judging.flatMap(missedBranches).sort().join('\n'))
const missed = findMissedGoals(files)
for (const line of missed) console.error(line)
process.exit(passed && missed.length === 0 ? 0 : 1)
